// SPDX-License-Identifier: Apache-2.0
// Durations, kept in constant space: how many there were in each of a fixed set of intervals, eight to a
// doubling, so that a quantile is within 5 % of a duration that was there. Sketches of several ranks add up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace detccl::profile {

class Sketch {
 public:
  static constexpr std::size_t kPerDoubling = 8;
  static constexpr std::size_t kBuckets = 48 * kPerDoubling;  ///< up to 78 hours

  void add(std::uint64_t nanoseconds);
  void merge(const Sketch& other);

  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }  ///< nanoseconds, as all below
  double square_sum() const { return square_sum_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  /// Of the mean, from the durations' spread; 0 with fewer than two.
  double standard_error() const;
  /// The duration that a share `q` (0 … 1) of them does not exceed; 0 without any.
  double quantile(double q) const;

  const std::array<std::uint64_t, kBuckets>& buckets() const { return buckets_; }
  /// As it was written down. False where the numbers contradict each other; then it is empty.
  bool restore(const std::array<std::uint64_t, kBuckets>& buckets, double sum, double square_sum,
               std::uint64_t min, std::uint64_t max);

 private:
  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
  double sum_ = 0, square_sum_ = 0;
};

}  // namespace detccl::profile
