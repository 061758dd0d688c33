// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the accumulation types: fp32, fp64 and unsigned integers, which wrap.
// Every floating-point operation is one rounding to nearest even, never fused with its neighbour: on the GPU
// by the explicit forms, on the host because everything is compiled with -ffp-contract=off.
#pragma once

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "contract/float_formats.h"
#include "contract/host_device.h"

namespace detccl::contract {

static_assert(FLT_EVAL_METHOD == 0, "float and double expressions must be evaluated in their own types");

#ifdef __CUDA_ARCH__
DETCCL_HD float add(float a, float b) {
  return __fadd_rn(a, b);
}
DETCCL_HD double add(double a, double b) {
  return __dadd_rn(a, b);
}
DETCCL_HD float multiply(float a, float b) {
  return __fmul_rn(a, b);
}
DETCCL_HD double multiply(double a, double b) {
  return __dmul_rn(a, b);
}
DETCCL_HD float divide(float a, float b) {
  return __fdiv_rn(a, b);
}
DETCCL_HD double divide(double a, double b) {
  return __ddiv_rn(a, b);
}
#else
DETCCL_HD float add(float a, float b) {
  return a + b;
}
DETCCL_HD double add(double a, double b) {
  return a + b;
}
DETCCL_HD float multiply(float a, float b) {
  return a * b;
}
DETCCL_HD double multiply(double a, double b) {
  return a * b;
}
DETCCL_HD float divide(float a, float b) {
  return a / b;
}
DETCCL_HD double divide(double a, double b) {
  return a / b;
}
#endif

/// `x`, a NaN in its one pattern.
DETCCL_HD std::uint32_t canonical_bits(float x) {
  return (bits_of(x) & 0x7fffffff) > kFloatInfinity ? kFloatNan : bits_of(x);
}
DETCCL_HD std::uint64_t canonical_bits(double x) {
  return (bits_of(x) & kDoubleNan) > kDoubleInfinity ? kDoubleNan : bits_of(x);
}

/// An integer that orders floating-point values, -0 below +0; `for_nan` where `x` is a NaN.
DETCCL_HD std::int32_t order_key(float x, std::int32_t for_nan) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t key = bits ^ (static_cast<std::uint32_t>(-static_cast<std::int32_t>(bits >> 31)) >> 1);
  return (bits & 0x7fffffff) > kFloatInfinity ? for_nan : static_cast<std::int32_t>(key);
}
DETCCL_HD std::int64_t order_key(double x, std::int64_t for_nan) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t key = bits ^ (static_cast<std::uint64_t>(-static_cast<std::int64_t>(bits >> 63)) >> 1);
  return (bits & kDoubleNan) > kDoubleInfinity ? for_nan : static_cast<std::int64_t>(key);
}

/// The smaller and the greater of two values; a NaN only if both are.
DETCCL_HD float lesser(float a, float b) {
  return order_key(a, INT32_MAX) < order_key(b, INT32_MAX) ? a : b;
}
DETCCL_HD float greater(float a, float b) {
  return order_key(a, INT32_MIN) > order_key(b, INT32_MIN) ? a : b;
}
DETCCL_HD double lesser(double a, double b) {
  return order_key(a, INT64_MAX) < order_key(b, INT64_MAX) ? a : b;
}
DETCCL_HD double greater(double a, double b) {
  return order_key(a, INT64_MIN) > order_key(b, INT64_MIN) ? a : b;
}

}  // namespace detccl::contract
