// SPDX-License-Identifier: Apache-2.0
// SplitMix64: the same numbers with every compiler and standard library.
#pragma once

#include <cstdint>

namespace trainer {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform in [-1, 1), a multiple of 2^-23.
  float symmetric() { return static_cast<float>(next() >> 40) * 0x1p-23f - 1.0f; }

  /// In [0, bound). The modulo's bias does not matter for a shuffle of a few thousand.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace trainer
