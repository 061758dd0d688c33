// SPDX-License-Identifier: Apache-2.0
#include "counts.h"

#include <algorithm>
#include <cmath>

namespace detccl::fingerprint_trials {
namespace {

/// Sum of Poisson probabilities from `k` on in steps of `direction`, until they no longer matter.
double tail(double k, double mean, int direction) {
  double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)), sum = 0;
  while (k >= 0 && term > sum * 1e-12) {
    sum += term;
    term *= direction > 0 ? mean / (k + 1) : k / mean;
    k += direction;
  }
  return sum;
}

}  // namespace

double poisson_tail(std::uint64_t seen, double expected) {
  const auto k = static_cast<double>(seen);
  const double outward = tail(k, expected, k > expected ? 1 : -1);
  return std::min(outward, 1.0);
}

std::vector<Counts::Window> Counts::windows() const {
  static constexpr const char* kShortNames[4] = {"a", "b", "a^b", "a-b"};
  static constexpr const char* kLongNames[kLong] = {"a[0:32]",  "a[32:64]",       "b[0:32]",
                                                    "b[32:64]", "a[0:16]b[0:16]", "a[48:64]b[48:64]"};
  std::vector<Window> all;
  const auto add = [&](std::string name, std::uint64_t zeros, int bits) {
    const double expected = std::ldexp(static_cast<double>(trials_), -bits);
    all.push_back({std::move(name), zeros, expected, poisson_tail(zeros, expected)});
  };
  for (int i = 0; i < kShort; ++i) {
    add(std::string(kShortNames[i / 4]) + "[" + std::to_string(i % 4 * 16) + ":" +
            std::to_string(i % 4 * 16 + 16) + "]",
        short_[i], 16);
  }
  for (int i = 0; i < kLong; ++i)
    add(kLongNames[i], long_[i], 32);
  return all;
}

}  // namespace detccl::fingerprint_trials
