// SPDX-License-Identifier: Apache-2.0
// The floating-point payload formats and their conversions: decode() to fp32 is exact, encode() from fp32
// rounds to nearest even. Branch-free, so that loops over them vectorise.
//
// A NaN is encoded as the format's one NaN, every bit below the sign set. fp8 saturates: what is beyond the
// largest finite value, infinity too, becomes the largest finite value.
// The thread must round to nearest (contract/float_environment.h); flushing of subnormals does no harm here.
#pragma once

#include <cstdint>

#include "contract/host_device.h"

namespace detccl::contract {

DETCCL_HD std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
DETCCL_HD std::uint64_t bits_of(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
DETCCL_HD float float_of(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
DETCCL_HD double double_of(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

inline constexpr std::uint32_t kFloatInfinity = 0x7f800000;
inline constexpr std::uint32_t kFloatNan = 0x7fffffff;
inline constexpr std::uint64_t kDoubleInfinity = 0x7ff0000000000000;
inline constexpr std::uint64_t kDoubleNan = 0x7fffffffffffffff;

struct Float16 {
  using Bits = std::uint16_t;
  static constexpr int kMantissaBits = 10;
  static constexpr int kExponentBias = 15;
  static constexpr std::uint32_t kLargest = 0x7bff;   ///< the largest finite value
  static constexpr std::uint32_t kOverflow = 0x7c00;  ///< what larger ones become
  static constexpr std::uint32_t kNan = 0x7fff;
};

struct Bfloat16 {
  using Bits = std::uint16_t;
  static constexpr int kMantissaBits = 7;
  static constexpr int kExponentBias = 127;
  static constexpr std::uint32_t kLargest = 0x7f7f;
  static constexpr std::uint32_t kOverflow = 0x7f80;
  static constexpr std::uint32_t kNan = 0x7fff;
};

struct Float8E4M3 {
  using Bits = std::uint8_t;
  static constexpr int kMantissaBits = 3;
  static constexpr int kExponentBias = 7;
  static constexpr std::uint32_t kLargest = 0x7e;
  static constexpr std::uint32_t kOverflow = 0x7e;
  static constexpr std::uint32_t kNan = 0x7f;
};

struct Float8E5M2 {
  using Bits = std::uint8_t;
  static constexpr int kMantissaBits = 2;
  static constexpr int kExponentBias = 15;
  static constexpr std::uint32_t kLargest = 0x7b;
  static constexpr std::uint32_t kOverflow = 0x7b;
  static constexpr std::uint32_t kNan = 0x7f;
};

/// Places of a format inside fp32.
template <class Format>
struct Layout {
  static constexpr int kBits = 8 * static_cast<int>(sizeof(typename Format::Bits));
  static constexpr std::uint32_t kMagnitude = (1U << (kBits - 1)) - 1;  ///< all bits but the sign
  static constexpr std::uint32_t kInfinity = (kMagnitude >> Format::kMantissaBits) << Format::kMantissaBits;
  static constexpr bool kHasInfinity = Format::kLargest < kInfinity;
  /// What exceeds the largest finite value, where that does not saturate.
  static constexpr std::uint32_t kUnsaturated = kHasInfinity ? kInfinity : Format::kOverflow;
  static constexpr int kShift = 23 - Format::kMantissaBits;  ///< between the two mantissas' lowest bits
  static constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - Format::kExponentBias) << 23;
  static constexpr std::uint32_t kLeastNormal = kRebias + (1U << 23);  ///< of the format, as fp32 bits
  /// The power of two whose neighbours in fp32 are as far apart as the format's subnormals.
  static constexpr std::uint32_t kSubnormalRounder =
      kLeastNormal + (static_cast<std::uint32_t>(kShift) << 23);
};

/// The value of `bits`, exactly; a NaN for a NaN.
template <class Format>
DETCCL_HD float decode(typename Format::Bits bits) {
  using L = Layout<Format>;
  const std::uint32_t magnitude = bits & L::kMagnitude;
  const std::uint32_t sign = (static_cast<std::uint32_t>(bits) >> (L::kBits - 1)) << 31;
  const std::uint32_t shifted = magnitude << L::kShift;
  if constexpr (L::kRebias == 0) return float_of(sign | shifted);  // bf16 has fp32's exponents
  // A subnormal m * step is (least normal + m * step) - least normal, both terms normal: exact.
  const float subnormal = float_of(shifted | L::kLeastNormal) - float_of(L::kLeastNormal);
  std::uint32_t result =
      magnitude < (1U << Format::kMantissaBits) ? bits_of(subnormal) : shifted + L::kRebias;
  if constexpr (L::kHasInfinity) {
    result = magnitude >= L::kInfinity ? shifted | kFloatInfinity : result;
  } else {
    result = magnitude == Format::kNan ? kFloatNan : result;
  }
  return float_of(sign | result);
}

/// `x` rounded to the format; `kOverflow` stands for what exceeds the largest finite value.
template <class Format, std::uint32_t kOverflow = Format::kOverflow>
DETCCL_HD typename Format::Bits encode(float x) {
  using L = Layout<Format>;
  const std::uint32_t magnitude = bits_of(x) & 0x7fffffff;
  const std::uint32_t sign = (bits_of(x) >> 31) << (L::kBits - 1);
  const std::uint32_t odd = (magnitude >> L::kShift) & 1;
  const std::uint32_t halfway_or_less = (1U << (L::kShift - 1)) - 1 + odd;  // ties go to even
  std::uint32_t result = (magnitude - L::kRebias + halfway_or_less) >> L::kShift;
  if constexpr (L::kRebias != 0) {
    // The addition drops what is below the subnormals' step, and rounds to nearest even.
    const float rounder = float_of(L::kSubnormalRounder);
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + rounder) - L::kSubnormalRounder;
    result = magnitude < L::kLeastNormal ? subnormal : result;
  }
  result = result > Format::kLargest ? kOverflow : result;
  result = magnitude > kFloatInfinity ? Format::kNan : (result | sign);
  return static_cast<typename Format::Bits>(result);
}

}  // namespace detccl::contract
