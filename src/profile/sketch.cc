// SPDX-License-Identifier: Apache-2.0
#include "profile/sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace detccl::profile {
namespace {

constexpr unsigned kBits = std::countr_zero(Sketch::kPerDoubling);

/// The doubling from the highest bit, the eighth of it from the next three. Below 8 ns the buckets are whole
/// nanoseconds.
std::size_t bucket_of(std::uint64_t ns) {
  if (ns < Sketch::kPerDoubling) return static_cast<std::size_t>(ns);
  const auto top = static_cast<unsigned>(std::bit_width(ns)) - 1;
  const auto eighth = static_cast<std::size_t>(ns >> (top - kBits)) & (Sketch::kPerDoubling - 1);
  return std::min((top - kBits + 1) * Sketch::kPerDoubling + eighth, Sketch::kBuckets - 1);
}

double lower_edge(std::size_t bucket) {
  if (bucket < Sketch::kPerDoubling) return static_cast<double>(bucket);
  const auto shift = static_cast<int>(bucket / Sketch::kPerDoubling) - 1;
  return std::ldexp(static_cast<double>(Sketch::kPerDoubling + bucket % Sketch::kPerDoubling), shift);
}

}  // namespace

void Sketch::add(std::uint64_t nanoseconds) {
  ++buckets_[bucket_of(nanoseconds)];
  ++count_;
  min_ = std::min(min_, nanoseconds);
  max_ = std::max(max_, nanoseconds);
  const auto value = static_cast<double>(nanoseconds);
  sum_ += value;
  square_sum_ += value * value;
}

void Sketch::merge(const Sketch& other) {
  for (std::size_t i = 0; i < kBuckets; ++i)
    buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  square_sum_ += other.square_sum_;
}

double Sketch::standard_error() const {
  if (count_ < 2) return 0;
  const auto n = static_cast<double>(count_);
  return std::sqrt(std::max(0.0, (square_sum_ - sum_ * sum_ / n) / (n - 1) / n));
}

double Sketch::quantile(double q) const {
  if (count_ == 0) return 0;
  if (q >= 1) return static_cast<double>(max_);
  const double wanted = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_);
  double seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += static_cast<double>(buckets_[i]);
    if (buckets_[i] == 0 || seen < wanted) continue;
    const double middle = (lower_edge(i) + lower_edge(i + 1)) / 2;
    return std::clamp(middle, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

bool Sketch::restore(const std::array<std::uint64_t, kBuckets>& buckets, double sum, double square_sum,
                     std::uint64_t min, std::uint64_t max) {
  *this = {};
  std::uint64_t count = 0;
  for (const std::uint64_t n : buckets)
    count += n;
  if (count == 0) return true;
  const auto n = static_cast<double>(count);
  const double slack = 1e-9 * sum + 1;
  const bool sound = min <= max && buckets[bucket_of(min)] != 0 && buckets[bucket_of(max)] != 0 &&
                     sum + slack >= n * static_cast<double>(min) &&
                     sum - slack <= n * static_cast<double>(max) && square_sum >= 0;
  if (!sound) return false;
  buckets_ = buckets;
  count_ = count;
  min_ = min;
  max_ = max;
  sum_ = sum;
  square_sum_ = square_sum;
  return true;
}

}  // namespace detccl::profile
