// SPDX-License-Identifier: Apache-2.0
// The hash of records and communicators: a row of 64-bit words, order-sensitive, 128 bits.
#pragma once

#include <cstdint>

#include "trace/record.h"

namespace detccl::trace {

class Hash {
 public:
  void add(std::uint64_t word) {
    low_ = mix(low_ ^ word, 0x9e3779b97f4a7c15);
    high_ = mix(high_ + word, 0xc2b2ae3d27d4eb4f) ^ low_;
  }

  Digest value() const { return {mix(low_, 0x165667b19e3779f9), mix(high_, 0x85ebca77c2b2ae63)}; }

 private:
  // Multiply, fold the high half down, multiply: each is a bijection for a given odd factor.
  static constexpr std::uint64_t mix(std::uint64_t word, std::uint64_t odd) {
    word = (word ^ (word >> 32U)) * odd;
    word = (word ^ (word >> 29U)) * 0xd6e8feb86659fd93;
    return word ^ (word >> 32U);
  }

  std::uint64_t low_ = 0x243f6a8885a308d3, high_ = 0x13198a2e03707344;
};

}  // namespace detccl::trace
