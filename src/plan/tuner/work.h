// SPDX-License-Identifier: Apache-2.0
// What one chunk's plan has the ranks do, by closed forms instead of counted from the plan, so that asking
// costs a fraction of a microsecond over any number of ranks. They are tested against what plan/summary.h
// counts.
#pragma once

#include <cstdint>
#include <vector>

#include "contract/contract.h"
#include "contract/types.h"
#include "plan/plan.h"

namespace detccl::plan::tuner {

/// A call, as all ranks know it.
struct Question {
  Collective collective = Collective::all_reduce;
  contract::Contract contract;
  contract::DataType type = contract::DataType::float32;
  std::uint32_t ranks = 1;
  std::uint32_t group = 1;  ///< consecutive ranks that are near each other: a power of two, or all
  std::uint64_t bytes = 0;  ///< payload of the message; reduce_scatter: of all shards together
};

/// What a rank does from one wait for others to the next.
struct Round {
  double steps = 0;                      ///< groups of transfers
  double messages = 0;                   ///< sent and received in them
  double near_bytes = 0, far_bytes = 0;  ///< the larger of sent and received; both at the same time
  double folds = 0, fold_bytes = 0;      ///< fold_bytes: read and written
  double times = 1;                      ///< so often in a row
};

struct Work {
  std::vector<Round>
      rounds;  ///< one after the other: what a chunk goes through from its beginning to its end
  /// ring, tree: different ranks do the rounds, and chunks follow each other; so only the busiest rank's part
  /// of a chunk holds up the next one. `mean`: over all ranks.
  bool chained = false;
  Round busiest, mean;
  double pieces = 1;  ///< reduce_scatter by ring or tree: plans for each chunk
};

/// Of a chunk with `bytes` of payload (reduce_scatter: of all shards). `schedule` supports the contract, and
/// a hier has its group.
Work work(const Question& question, const Schedule& schedule, double bytes);

}  // namespace detccl::plan::tuner
