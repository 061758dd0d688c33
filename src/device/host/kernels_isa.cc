// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set, with DETCCL_KERNELS_ISA naming its namespace. Nothing that other
// translation units could share may be instantiated out of line here: the linker would keep one copy for all,
// perhaps one that this processor cannot run. So everything is internal to this file or always inlined.
#include <cstring>

#include "contract/element.h"
#include "device/host/kernels_isa.h"

namespace detccl::device::host::DETCCL_KERNELS_ISA {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;

template <class T>
[[gnu::always_inline]] inline T read(const void* array, std::size_t i) {
  T x;
  std::memcpy(&x, static_cast<const char*>(array) + i * sizeof(T), sizeof(T));
  return x;
}

template <class T>
[[gnu::always_inline]] inline void write(void* array, std::size_t i, T x) {
  std::memcpy(static_cast<char*>(array) + i * sizeof(T), &x, sizeof(T));
}

template <class Element, Storage kStorage>
[[gnu::always_inline]] inline typename Element::Value value_at(const void* array, std::size_t i) {
  if constexpr (kStorage == Storage::value) return read<typename Element::Value>(array, i);
  else return Element::load(read<typename Element::Bits>(array, i));
}

template <class Element, Finish kFinish>
[[gnu::always_inline]] inline void finish_at(void* array, std::size_t i, typename Element::Value x,
                                             std::uint32_t ranks) {
  if constexpr (kFinish == Finish::keep) write(array, i, x);
  else if constexpr (kFinish == Finish::round) write(array, i, Element::store(x));
  else write(array, i, Element::average(x, ranks));
}

// ivdep: the compiler may assume that an output element is no later input element. It holds, see kernels.h.

template <class Element, Op kOp, Storage kA, Storage kB, Finish kFinish>
void combine(const void* a, const void* b, void* out, std::size_t n, std::uint32_t ranks) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = value_at<Element, kA>(a, i);
    const auto y = value_at<Element, kB>(b, i);
    finish_at<Element, kFinish>(out, i, contract::combine<kOp, Element>(x, y), ranks);
  }
}

template <class Element, Storage kStorage, Finish kFinish>
void single(const void* in, void* out, std::size_t n, std::uint32_t ranks) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) finish_at<Element, kFinish>(out, i, value_at<Element, kStorage>(in, i), ranks);
}

template <class Element>
void pack(const void* values, void* out, std::size_t n, std::uint32_t) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    write(out, i, Element::to_partial(value_at<Element, Storage::value>(values, i)));
  }
}

template <class Element>
void scale(const void* payload, std::uint64_t factor, void* values, std::size_t n) {
  const auto y = Element::load(static_cast<typename Element::Bits>(factor));
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    write(values, i, Element::multiply(value_at<Element, Storage::payload>(payload, i), y));
  }
}

/// The loops of one operation and one finish. Where payload and value are the same bits, so are the loops.
template <class Element, Op kOp, Finish kFinish>
void set_combine(Kernels& k) {
  constexpr bool kSame = sizeof(typename Element::Bits) == sizeof(typename Element::Value);
  constexpr Storage kPayload = kSame ? Storage::value : Storage::payload;
  constexpr auto kAt = static_cast<std::size_t>(kFinish);
  k.combine[0][0][kAt] = combine<Element, kOp, kPayload, kPayload, kFinish>;
  k.combine[1][0][kAt] = combine<Element, kOp, Storage::value, kPayload, kFinish>;
  k.combine[1][1][kAt] = combine<Element, kOp, Storage::value, Storage::value, kFinish>;
}

template <class Element, Op kOp>
void set_combines(Kernels& k) {
  set_combine<Element, kOp, Finish::keep>(k);
  set_combine<Element, kOp, Finish::round>(k);
}

template <class Element>
void set_singles(Kernels& k) {
  k.single[0][0] = single<Element, Storage::payload, Finish::keep>;
  k.single[0][1] = single<Element, Storage::payload, Finish::round>;
  k.single[0][2] = single<Element, Storage::payload, Finish::average>;
  k.single[1][0] = single<Element, Storage::value, Finish::keep>;
  k.single[1][1] = single<Element, Storage::value, Finish::round>;
  k.single[1][2] = single<Element, Storage::value, Finish::average>;
}

template <class Element>
Kernels kernels_of(Op op) {
  Kernels k;
  k.value_size = sizeof(typename Element::Value);
  switch (op) {
    case Op::prod: set_combines<Element, Op::prod>(k); break;
    case Op::min: set_combines<Element, Op::min>(k); break;
    case Op::max: set_combines<Element, Op::max>(k); break;
    case Op::sum:
    case Op::avg:
    case Op::premulsum: set_combines<Element, Op::sum>(k); break;
  }
  if (op == Op::avg) set_combine<Element, Op::sum, Finish::average>(k);
  set_singles<Element>(k);
  k.pack = pack<Element>;
  k.scale = scale<Element>;
  return k;
}

}  // namespace

Kernels kernels(DataType type, Accumulate accumulate, Op op) {
  return contract::visit_element(type, accumulate, [op]<class Element>(Element) { return kernels_of<Element>(op); });
}

}  // namespace detccl::device::host::DETCCL_KERNELS_ISA
