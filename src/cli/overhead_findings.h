// SPDX-License-Identifier: Apache-2.0
// What the summaries of a job say: ranks that come late, schedules that are slow.
#pragma once

#include <string>
#include <vector>

#include "cli/overhead_native.h"

namespace detccl::cli {

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
