// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_native.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace detccl::cli {
namespace {

constexpr double kNormal95 = 1.96;
constexpr std::size_t kFewestPairs = 6;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), middle = n / 2;
  return n % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The k for which the k-th smallest and the k-th largest (from 0) of n values enclose the median with a
/// probability of 95 %: values fall on either side of it as coins do.
std::size_t interval_end(std::size_t n) {
  const auto count = static_cast<double>(n);
  double below = 0;  // probability that at most k of n are on one side
  std::size_t k = 0;
  for (; k < n / 2; ++k) {
    const auto i = static_cast<double>(k);
    below += std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) -
                      count * std::log(2.0));
    if (2 * below > 0.05) break;
  }
  return k > 0 ? k - 1 : 0;
}

double half_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t end = interval_end(values.size());
  return (values[values.size() - 1 - end] - values[end]) / 2;
}

}  // namespace

const char* source_name(Compared::Source source) {
  constexpr const char* kNames[] = {"baseline", "shadow", "calibration"};
  return kNames[static_cast<std::size_t>(source)];
}

Baseline::Baseline(const Summaries& summaries) {
  for (const auto& [number, communicator] : summaries.communicators) {
    for (const auto& [key, operations] : communicator.operations) {
      if (operations.clock == Clock::none) continue;
      Native& native = natives_[{communicator.size, key.function, key.datatype, key.doubling}];
      if (operations.clock < native.clock) continue;
      if (operations.clock > native.clock) native = {operations.clock, 0, 0, 0};
      const Cost cost = cost_of(operations);
      const auto weight = static_cast<double>(operations.count);
      native.weight += weight;
      native.own += weight * cost.own;
      native.variance += std::pow(weight * cost.standard_error, 2);
    }
  }
}

std::optional<Compared> Baseline::compare(const OperationKey& key, int ranks,
                                          const Operations& operations) const {
  const auto found = natives_.find({ranks, key.function, key.datatype, key.doubling});
  if (found == natives_.end() || operations.clock == Clock::none || operations.clock != found->second.clock ||
      found->second.own <= 0)
    return std::nullopt;
  const Native& native = found->second;
  const Cost cost = cost_of(operations);
  const double own = native.own / native.weight, ratio = cost.own / own;
  const double relative =
      std::hypot(cost.own > 0 ? cost.standard_error / cost.own : 0, std::sqrt(native.variance) / native.own);
  return Compared{Compared::Source::baseline, own, {ratio - 1, kNormal95 * ratio * relative}, 0};
}

std::optional<Compared> compare_pairs(const std::vector<RankPairs>& ranks, Compared::Source source) {
  std::vector<double> ratios, errors, natives;
  Compared compared;
  for (const RankPairs& rank : ranks) {
    if (rank.pairs.size() < kFewestPairs) continue;
    std::vector<double> own;
    for (const profile::Pair& pair : rank.pairs) {
      own.push_back(static_cast<double>(pair.ours) / static_cast<double>(pair.native));
      natives.push_back(static_cast<double>(pair.native));
    }
    ratios.push_back(median(own));
    errors.push_back(half_interval(own));
    compared.pairs = std::max(compared.pairs, rank.count);
  }
  if (ratios.empty()) return std::nullopt;
  compared.source = source;
  compared.native = median(natives);
  compared.overhead = {median(ratios) - 1, median(errors)};
  return compared;
}

std::optional<Compared> compare(const Baseline* baseline, const OperationKey& key, int ranks,
                                const Operations& operations) {
  if (const auto from_shadow = compare_pairs(operations.pairs, Compared::Source::shadow)) return from_shadow;
  if (baseline != nullptr) {
    if (const auto from_baseline = baseline->compare(key, ranks, operations)) return from_baseline;
  }
  return compare_pairs(operations.calibration, Compared::Source::calibration);
}

}  // namespace detccl::cli
