// SPDX-License-Identifier: Apache-2.0
// One element of each payload type, for one way of accumulating: how it is read, combined and written.
// An element class has
//   Bits                  the payload's bit pattern
//   Value                 what is computed with
//   Partial               the bit pattern of an unfinished result
//   load(Bits)            the value, exactly
//   add, multiply         one combination, rounded as the accumulation says
//   lesser, greater       likewise
//   store(Value)          rounded to the payload type, a NaN in its one pattern
//   average(Value, n)     divided by n in fp32 (fp64 for fp64), then stored; n up to 2^24
//   from_partial(Partial), to_partial(Value)   exact both ways
#pragma once

#include <cstdint>
#include <type_traits>

#include "contract/arithmetic.h"
#include "contract/contract.h"
#include "contract/float_formats.h"
#include "contract/types.h"

namespace detccl::contract {

/// `T` is the C++ type; values are its unsigned form, so that they wrap.
template <class T>
struct IntegerElement {
  using Bits = std::make_unsigned_t<T>;
  using Value = Bits;
  using Partial = Bits;

  DETCCL_HD static Value load(Bits x) { return x; }
  DETCCL_HD static Bits store(Value x) { return x; }
  DETCCL_HD static Value from_partial(Partial x) { return x; }
  DETCCL_HD static Partial to_partial(Value x) { return x; }
  DETCCL_HD static Value add(Value a, Value b) { return static_cast<Value>(a + b); }
  DETCCL_HD static Value multiply(Value a, Value b) { return static_cast<Value>(a * b); }
  DETCCL_HD static Value lesser(Value a, Value b) { return static_cast<T>(a) < static_cast<T>(b) ? a : b; }
  DETCCL_HD static Value greater(Value a, Value b) { return static_cast<T>(a) > static_cast<T>(b) ? a : b; }
  DETCCL_HD static Bits average(Value x, std::uint32_t n) {
    using Quotient = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    // C++ division truncates toward zero.
    return static_cast<Bits>(static_cast<Quotient>(static_cast<T>(x)) / static_cast<Quotient>(n));
  }
};

/// fp32 and fp64, which accumulate in themselves.
template <class T>
struct FloatElement {
  using Bits = decltype(bits_of(T{}));
  using Value = T;
  using Partial = Bits;

  DETCCL_HD static Value load(Bits x) { return __builtin_bit_cast(T, x); }
  DETCCL_HD static Bits store(Value x) { return canonical_bits(x); }
  DETCCL_HD static Value from_partial(Partial x) { return load(x); }
  DETCCL_HD static Partial to_partial(Value x) { return bits_of(x); }
  DETCCL_HD static Value add(Value a, Value b) { return contract::add(a, b); }
  DETCCL_HD static Value multiply(Value a, Value b) { return contract::multiply(a, b); }
  DETCCL_HD static Value lesser(Value a, Value b) { return contract::lesser(a, b); }
  DETCCL_HD static Value greater(Value a, Value b) { return contract::greater(a, b); }
  DETCCL_HD static Bits average(Value x, std::uint32_t n) { return store(divide(x, static_cast<T>(n))); }
};

/// fp16, bf16 and fp8 accumulated in fp32.
template <class Format>
struct WideElement : FloatElement<float> {
  using Bits = typename Format::Bits;

  DETCCL_HD static Value load(Bits x) { return decode<Format>(x); }
  DETCCL_HD static Bits store(Value x) { return encode<Format>(x); }
  DETCCL_HD static Bits average(Value x, std::uint32_t n) { return store(divide(x, static_cast<float>(n))); }
};

/// fp16, bf16 and fp8 accumulated in their own type. A value is an fp32 that the format can hold. Rounding
/// the fp32 sum or product once more gives the exact one rounded once: fp32 has at least 2p + 2 bits, and
/// where the format's results are subnormal the fp32 ones are exact or round to zero alike
/// (tests/contract/native_arithmetic_test.cc).
template <class Format>
struct NativeElement : WideElement<Format> {
  using Wide = WideElement<Format>;
  using Bits = typename Format::Bits;
  using Value = float;
  using Partial = Bits;

  DETCCL_HD static Value from_partial(Partial x) { return decode<Format>(x); }
  /// Exact, so an infinity of fp8 stays one until the result is stored.
  DETCCL_HD static Partial to_partial(Value x) { return encode<Format, Layout<Format>::kUnsaturated>(x); }
  DETCCL_HD static Value add(Value a, Value b) { return Wide::load(Wide::store(contract::add(a, b))); }
  DETCCL_HD static Value multiply(Value a, Value b) {
    return Wide::load(Wide::store(contract::multiply(a, b)));
  }
};

/// One (+) of the reduction `kOp`.
template <Op kOp, class Element>
DETCCL_HD typename Element::Value combine(typename Element::Value a, typename Element::Value b) {
  if constexpr (kOp == Op::prod)
    return Element::multiply(a, b);
  else if constexpr (kOp == Op::min)
    return Element::lesser(a, b);
  else if constexpr (kOp == Op::max)
    return Element::greater(a, b);
  else
    return Element::add(a, b);  // sum, avg, premulsum
}

/// Calls visitor(Element{}) with the element class of `type` under `accumulate`. Host only.
template <class Visitor>
decltype(auto) visit_element(DataType type, Accumulate accumulate, Visitor&& visitor) {
  const bool native = accumulate == Accumulate::native;
  switch (type) {
    case DataType::int8:
      return visitor(IntegerElement<std::int8_t>{});
    case DataType::uint8:
      return visitor(IntegerElement<std::uint8_t>{});
    case DataType::int32:
      return visitor(IntegerElement<std::int32_t>{});
    case DataType::uint32:
      return visitor(IntegerElement<std::uint32_t>{});
    case DataType::int64:
      return visitor(IntegerElement<std::int64_t>{});
    case DataType::uint64:
      return visitor(IntegerElement<std::uint64_t>{});
    case DataType::float32:
      return visitor(FloatElement<float>{});
    case DataType::float64:
      return visitor(FloatElement<double>{});
    case DataType::float16:
      return native ? visitor(NativeElement<Float16>{}) : visitor(WideElement<Float16>{});
    case DataType::bfloat16:
      return native ? visitor(NativeElement<Bfloat16>{}) : visitor(WideElement<Bfloat16>{});
    case DataType::float8e4m3:
      return native ? visitor(NativeElement<Float8E4M3>{}) : visitor(WideElement<Float8E4M3>{});
    case DataType::float8e5m2:
      break;
  }
  return native ? visitor(NativeElement<Float8E5M2>{}) : visitor(WideElement<Float8E5M2>{});
}

}  // namespace detccl::contract
