// SPDX-License-Identifier: Apache-2.0
// The contract's element classes with the GPU's conversion instructions in place of their conversions, where
// the GPU has them. They give the same bits, NaN patterns and saturation included: a test compares all 2^32
// fp32 values with the contract's own code.
#pragma once

#include <cstdint>

#include "contract/element.h"

namespace detccl::device::cuda {

/// x / n, as the contract has it. The reciprocal of a power of two is exact, so the product with it is
/// rounded alike; it takes one instruction instead of some twenty.
__device__ __forceinline__ float quotient(float x, std::uint32_t n) {
  const auto divisor = static_cast<float>(n);
  if ((n & (n - 1)) != 0) return contract::divide(x, divisor);
  constexpr std::uint32_t kExponents = 254U << 23;  // a power of two's and its reciprocal's together
  return contract::multiply(x, __uint_as_float(kExponents - __float_as_uint(divisor)));
}
__device__ __forceinline__ double quotient(double x, std::uint32_t n) {
  const auto divisor = static_cast<double>(n);
  if ((n & (n - 1)) != 0) return contract::divide(x, divisor);
  constexpr long long kExponents = 2046LL << 52;
  return contract::multiply(x, __longlong_as_double(kExponents - __double_as_longlong(divisor)));
}

/// Conversions of one format: the contract's.
template <class Format>
struct Conversion {
  using Bits = typename Format::Bits;
  __device__ __forceinline__ static float decode(Bits x) { return contract::decode<Format>(x); }
  __device__ __forceinline__ static Bits encode(float x) { return contract::encode<Format>(x); }
};

__device__ __forceinline__ float decode_float16(std::uint16_t x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
  return value;
}

template <>
struct Conversion<contract::Float16> {
  __device__ __forceinline__ static float decode(std::uint16_t x) { return decode_float16(x); }
  __device__ __forceinline__ static std::uint16_t encode(float x) {
    std::uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
  }
};

template <>
struct Conversion<contract::Bfloat16> {
  __device__ __forceinline__ static float decode(std::uint16_t x) {
    return contract::decode<contract::Bfloat16>(x);
  }
  __device__ __forceinline__ static std::uint16_t encode(float x) {
    std::uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
  }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
// Two at a time; the upper one is not used.
template <>
struct Conversion<contract::Float8E4M3> {
  __device__ __forceinline__ static float decode(std::uint8_t x) {
    std::uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(x)));
    return decode_float16(static_cast<std::uint16_t>(halves));
  }
  __device__ __forceinline__ static std::uint8_t encode(float x) {
    std::uint16_t bits;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0F), "f"(x));
    return static_cast<std::uint8_t>(bits);
  }
};

template <>
struct Conversion<contract::Float8E5M2> {
  /// The upper half of an fp16.
  __device__ __forceinline__ static float decode(std::uint8_t x) {
    return decode_float16(static_cast<std::uint16_t>(x << 8));
  }
  __device__ __forceinline__ static std::uint8_t encode(float x) {
    std::uint16_t bits;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0F), "f"(x));
    return static_cast<std::uint8_t>(bits);
  }
};
#endif

template <class T>
struct GpuFloatElement : contract::FloatElement<T> {
  using Base = contract::FloatElement<T>;
  __device__ __forceinline__ static typename Base::Bits average(T x, std::uint32_t n) {
    return Base::store(quotient(x, n));
  }
};

template <class Format>
struct GpuWideElement : contract::WideElement<Format> {
  using Bits = typename Format::Bits;
  __device__ __forceinline__ static float load(Bits x) { return Conversion<Format>::decode(x); }
  __device__ __forceinline__ static Bits store(float x) { return Conversion<Format>::encode(x); }
  __device__ __forceinline__ static Bits average(float x, std::uint32_t n) { return store(quotient(x, n)); }
};

template <class Format>
struct GpuNativeElement : contract::NativeElement<Format> {
  using Wide = GpuWideElement<Format>;
  using Bits = typename Format::Bits;
  __device__ __forceinline__ static float load(Bits x) { return Wide::load(x); }
  __device__ __forceinline__ static Bits store(float x) { return Wide::store(x); }
  __device__ __forceinline__ static Bits average(float x, std::uint32_t n) { return Wide::average(x, n); }
  __device__ __forceinline__ static float from_partial(Bits x) { return Wide::load(x); }
  __device__ __forceinline__ static float add(float a, float b) { return load(store(contract::add(a, b))); }
  __device__ __forceinline__ static float multiply(float a, float b) {
    return load(store(contract::multiply(a, b)));
  }
};

/// The GPU's form of a contract element class.
template <class Element>
struct GpuElementOf {
  using Type = Element;
};
template <class T>
struct GpuElementOf<contract::FloatElement<T>> {
  using Type = GpuFloatElement<T>;
};
template <class Format>
struct GpuElementOf<contract::WideElement<Format>> {
  using Type = GpuWideElement<Format>;
};
template <class Format>
struct GpuElementOf<contract::NativeElement<Format>> {
  using Type = GpuNativeElement<Format>;
};

}  // namespace detccl::device::cuda
