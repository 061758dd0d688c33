// SPDX-License-Identifier: Apache-2.0
// What the summaries of a job say: overhead against a baseline, ranks that come late, schedules that are
// slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/overhead_summaries.h"

namespace detccl::cli {

/// A ratio less one, and half its 95 % interval.
struct Overhead {
  double ratio = 0, uncertainty = 0;
};

/// Of operations against those of the baseline with the same collective, type, size and number of ranks.
/// Nothing where either has no times, or the two were measured with different clocks.
struct Compared {
  double native = 0;  ///< an operation's own cost, nanoseconds
  Overhead overhead;
};

class Baseline {
 public:
  explicit Baseline(const Summaries& summaries);
  std::optional<Compared> compare(const OperationKey& key, int ranks, const Operations& operations) const;

 private:
  using Key = std::tuple<int, std::string, std::string, unsigned>;
  struct Native {
    Clock clock = Clock::none;
    double weight = 0, own = 0, variance = 0;  ///< weighted by operations
  };
  std::map<Key, Native> natives_;
};

/// A rank that the others of its communicator wait for.
struct Straggler {
  std::string communicator, host;
  int rank = 0;
  double waiting = 0;  ///< seconds that the rank in the middle waited for it
  double share = 0;    ///< of the time that the rank in the middle spent in operations
};
std::vector<Straggler> find_stragglers(const Summaries& summaries);

/// A schedule, or an algorithm of NCCL's, that costs more than another one for the same collective, type,
/// size and number of ranks, or more than `limit` times native.
struct SlowSchedule {
  OperationKey operations;
  int ranks = 0;
  std::string than;  ///< the other one; empty: native
  double factor = 0;
};
std::vector<SlowSchedule> find_slow_schedules(const Summaries& summaries, const Baseline* baseline,
                                              double limit);

/// "gather"; "RING SIMPLE".
std::string schedule_name(const OperationKey& key);

}  // namespace detccl::cli
