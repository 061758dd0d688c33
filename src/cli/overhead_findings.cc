// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_findings.h"

#include <algorithm>
#include <cmath>

namespace detccl::cli {
namespace {

/// Less than this is not worth a name.
constexpr double kLateShare = 0.1, kSlowFactor = 1.25;
/// Beyond so many (robust) standard deviations, chance has not made it.
constexpr double kDeviations = 6, kErrors = 4;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A rank's time in all operations that every rank with a summary has measured as often, by rank.
std::map<int, double> time_in_operations(const CommunicatorSummary& communicator) {
  std::map<int, double> times;
  for (const auto& [key, operations] : communicator.operations) {
    const auto& ranks = operations.ranks;
    if (operations.clock != Clock::gpu || ranks.size() != communicator.hosts.size()) continue;
    std::uint64_t least = ranks.front().measured;
    for (const RankTime& rank : ranks)
      least = std::min(least, rank.measured);
    for (const RankTime& rank : ranks)
      times[rank.rank] += rank.mean * static_cast<double>(least);
  }
  return times;
}

void find_in(const std::string& number, const CommunicatorSummary& communicator,
             std::vector<Straggler>& found) {
  const std::map<int, double> times = time_in_operations(communicator);
  if (times.size() < 2) return;
  std::vector<double> values, distances;
  for (const auto& [rank, time] : times)
    values.push_back(time);
  const double middle = median(values);  // of two: the greater
  for (const double value : values)
    distances.push_back(std::abs(value - middle));
  // With few ranks the one that is looked at is a good part of the spread.
  const double spread = values.size() < 4 ? 0 : 1.4826 * median(distances);
  const double late = std::max(kLateShare * middle, kDeviations * spread);
  for (const auto& [rank, time] : times) {
    if (middle - time <= late) continue;
    found.push_back({number, communicator.hosts.at(rank), rank, (middle - time) * 1e-9, 1 - time / middle});
  }
}

struct Candidate {
  const OperationKey* key;
  Cost cost;
  double bytes;  ///< of an operation
};

/// Slower, by more than what the two measurements leave open, for as many bytes or fewer.
bool slower(const Candidate& a, const Candidate& b) {
  const double error = std::hypot(a.cost.standard_error, b.cost.standard_error);
  return a.bytes <= 1.1 * b.bytes && a.cost.own > kSlowFactor * b.cost.own &&
         a.cost.own - b.cost.own > kErrors * error;
}

}  // namespace

std::string schedule_name(const OperationKey& key) {
  if (key.algorithm == "detccl") return key.protocol;
  return key.algorithm.empty() ? "-" : key.algorithm + " " + key.protocol;
}

std::vector<Straggler> find_stragglers(const Summaries& summaries) {
  std::vector<Straggler> found;
  for (const auto& [number, communicator] : summaries.communicators)
    find_in(number, communicator, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Straggler& a, const Straggler& b) { return a.waiting > b.waiting; });
  return found;
}

std::vector<SlowSchedule> find_slow_schedules(const Summaries& summaries, const Baseline* baseline,
                                              double limit) {
  std::map<std::tuple<int, std::string, std::string, unsigned>, std::vector<Candidate>> alike;
  std::vector<SlowSchedule> found;
  for (const auto& [number, communicator] : summaries.communicators) {
    for (const auto& [key, operations] : communicator.operations) {
      if (operations.clock != Clock::gpu || operations.count == 0) continue;
      const double bytes = static_cast<double>(operations.bytes) / static_cast<double>(operations.count);
      alike[{communicator.size, key.function, key.datatype, key.doubling}].push_back(
          {&key, cost_of(operations), bytes});
      const auto compared = compare(baseline, key, communicator.size, operations);
      if (compared && compared->overhead.ratio + 1 - compared->overhead.uncertainty > limit)
        found.push_back({key, communicator.size, "", compared->overhead.ratio + 1});
    }
  }
  for (const auto& [key, candidates] : alike) {
    for (const Candidate& candidate : candidates) {
      const Candidate* best = nullptr;
      for (const Candidate& other : candidates) {
        if (schedule_name(*other.key) == schedule_name(*candidate.key) || !slower(candidate, other)) continue;
        if (best == nullptr || other.cost.own < best->cost.own) best = &other;
      }
      if (best != nullptr)
        found.push_back({*candidate.key, std::get<0>(key), schedule_name(*best->key),
                         candidate.cost.own / best->cost.own});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const SlowSchedule& a, const SlowSchedule& b) { return a.factor > b.factor; });
  return found;
}

}  // namespace detccl::cli
