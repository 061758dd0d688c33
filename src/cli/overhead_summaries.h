// SPDX-License-Identifier: Apache-2.0
// Summaries of the profiler plugin (detccl-profile-1), read and put together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/pairs.h"
#include "profile/sketch.h"

namespace detccl::cli {

/// What a time was measured with.
enum class Clock : std::uint8_t { none, network, gpu };

/// Of a class's operations on one rank.
struct RankTime {
  int rank = 0;
  double mean = 0, standard_error = 0;  ///< of an operation, nanoseconds
  std::uint64_t measured = 0;           ///< operations
};

struct OperationKey {
  std::string function, datatype;
  unsigned doubling = 0;            ///< of bytes: 0, or 1 + log2 rounded down
  std::string algorithm, protocol;  ///< NCCL's; "detccl" and the schedule
  auto operator<=>(const OperationKey&) const = default;
};

/// What timed reductions of DetCCL's spent their time on, nanoseconds, by the phases' names.
inline constexpr std::array kPhaseNames = {"transfer", "fold", "wait", "kernel"};
class PhaseTimes : public std::array<double, kPhaseNames.size()> {
 public:
  PhaseTimes() : array{} {}
  void add(const PhaseTimes& more);
  double all() const;
};

/// Of a class's operations on one rank that ran both ways.
struct RankPairs {
  std::uint64_t count = 0;           ///< of all, kept or not
  std::vector<profile::Pair> pairs;  ///< those that were kept
};

struct Operations {
  std::uint64_t count = 0, bytes = 0;  ///< of the rank that did most
  Clock clock = Clock::none;           ///< the times': only one kind is put together
  profile::Sketch times;               ///< of all ranks
  std::vector<RankTime> ranks;
  PhaseTimes phases;                   ///< of all ranks; 0 where it is not known
  std::vector<RankPairs> pairs;        ///< by rank, of those that have any: shadow samples
  std::vector<RankPairs> calibration;  ///< likewise
  std::uint64_t in_steps = 0;          ///< of the count, those in the program's steps
  std::vector<double> step_shares;  ///< of each rank's step time what these take; of ranks where it is known
};

struct CommunicatorSummary {
  std::string name;
  int size = 0;                      ///< ranks that it has; as many as were seen where NCCL did not tell
  std::map<int, std::string> hosts;  ///< by rank: those with a summary
  double seconds = 0;  ///< from its making to its last event, on the rank where that took longest
  std::uint64_t dropped = 0;
  profile::Sketch steps;                            ///< of all ranks
  std::map<std::string, std::uint64_t> not_paired;  ///< reductions of a rank, by the reason
  std::map<OperationKey, Operations> operations;
};

struct Summaries {
  std::map<std::string, CommunicatorSummary> communicators;  ///< by number, as the summaries write it
  std::size_t files = 0;
  std::vector<std::string> unreadable;  ///< "FILE: why"
};

/// Adds a file's summary, or those of a folder's *.json files; what cannot be read goes to `unreadable`.
void read_summaries(const std::string& path, Summaries& summaries);

/// The rank whose mean is lowest came last, or its equal: its time is what the operation itself takes, and
/// what the others take beyond it they spend waiting for the last one.
struct Cost {
  double own = 0, standard_error = 0;  ///< nanoseconds
  double waiting = 0;                  ///< mean over the ranks
};
/// Of operations with a clock.
Cost cost_of(const Operations& operations);

}  // namespace detccl::cli
