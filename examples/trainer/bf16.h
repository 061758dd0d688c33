// SPDX-License-Identifier: Apache-2.0
// bfloat16 as its bit pattern.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace trainer {

/// Rounds to nearest, ties to even.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // quiet, never an infinity
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace trainer
