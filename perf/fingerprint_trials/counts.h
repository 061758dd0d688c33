// SPDX-License-Identifier: Apache-2.0
// How often differences of sums were zero, in whole and in part, and how often they should have been.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fingerprint/mix.h"

namespace detccl::fingerprint_trials {

/// Differences seen, and how many of them were zero in each of some windows of bits.
class Counts {
 public:
  static constexpr int kShort = 16;  ///< windows of 16 bits: 4 of a, 4 of b, 4 of a ^ b, 4 of a - b
  static constexpr int kLong = 6;    ///< of 32 bits: 2 of a, 2 of b, 2 with 16 bits of each

  void add(const fingerprint::Sums& difference) {
    const std::uint64_t a = difference.a, b = difference.b;
    ++trials_;
    if (a == 0 || b == 0) count_halves(a, b);
    const std::uint64_t views[4] = {a, b, a ^ b, a - b};
    for (int view = 0; view < 4; ++view) {
      for (int part = 0; part < 4; ++part)
        short_[4 * view + part] += (views[view] >> 16 * part & 0xffff) == 0;
    }
    const std::uint64_t low = (a & 0xffff) << 16 | (b & 0xffff), high = a >> 48 << 16 | b >> 48;
    const std::uint64_t pieces[kLong] = {a & 0xffffffff, a >> 32, b & 0xffffffff, b >> 32, low, high};
    for (int i = 0; i < kLong; ++i)
      long_[i] += pieces[i] == 0;
  }

  std::uint64_t trials() const { return trials_; }
  std::uint64_t collisions() const { return both_; }
  std::uint64_t collisions_a() const { return a_; }
  std::uint64_t collisions_b() const { return b_; }

  /// A window's count and its probability to be so far from the expected one, to that side.
  struct Window {
    std::string name;
    std::uint64_t zeros = 0;
    double expected = 0;
    double probability = 1;
  };
  std::vector<Window> windows() const;

 private:
  void count_halves(std::uint64_t a, std::uint64_t b) {
    a_ += a == 0;
    b_ += b == 0;
    both_ += a == 0 && b == 0;
  }

  std::uint64_t trials_ = 0, both_ = 0, a_ = 0, b_ = 0;
  std::uint64_t short_[kShort] = {}, long_[kLong] = {};
};

/// The smaller of P(X <= seen) and P(X >= seen) for X Poisson distributed with mean `expected`.
double poisson_tail(std::uint64_t seen, double expected);

}  // namespace detccl::fingerprint_trials
