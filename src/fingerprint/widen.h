// SPDX-License-Identifier: Apache-2.0
// Elements widened to 64 bits as torch.hash_tensor does, on bit patterns, for host and GPU: a processor's own
// conversions treat NaNs each in its way.
#pragma once

#include <cstdint>

#include "contract/host_device.h"

namespace detccl::fingerprint {

/// Leading zeros of an x that is not 0.
DETCCL_HD int leading_zeros(std::uint64_t x) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}

DETCCL_HD std::uint64_t widen_bool(std::uint8_t bits) {
  return bits != 0 ? 1 : 0;
}

/// By value: signed ones by their sign. Also fp64's bits, which are wide already.
template <class Integer>
DETCCL_HD std::uint64_t widen_integer(Integer x) {
  return static_cast<std::uint64_t>(x);
}

/// The fp64 with the value of a number of `kExponent` exponent and `kFraction` fraction bits; exact.
template <class Bits, int kExponent, int kFraction>
DETCCL_HD std::uint64_t widen_float(Bits bits) {
  constexpr std::uint64_t kLargest = (1U << kExponent) - 1;  // exponent field of infinity and NaN
  constexpr std::uint64_t kBias = kLargest >> 1;
  const std::uint64_t all = bits;
  const std::uint64_t sign = all >> (kExponent + kFraction) << 63;
  std::uint64_t exponent = all >> kFraction & kLargest;
  std::uint64_t fraction = (all & ((std::uint64_t{1} << kFraction) - 1)) << (52 - kFraction);
  if (exponent == kLargest) {
    const std::uint64_t quiet = fraction != 0 ? std::uint64_t{1} << 51 : 0;
    return sign | std::uint64_t{2047} << 52 | quiet | fraction;
  }
  if (exponent == 0) {
    if (fraction == 0) return sign;
    const int shift = leading_zeros(fraction) - 11;  // the leading bit becomes the implied one
    fraction = fraction << shift & ((std::uint64_t{1} << 52) - 1);
    return sign | (1023 - kBias + 1 - static_cast<std::uint64_t>(shift)) << 52 | fraction;
  }
  exponent += 1023 - kBias;
  return sign | exponent << 52 | fraction;
}

}  // namespace detccl::fingerprint
