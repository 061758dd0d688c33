// SPDX-License-Identifier: Apache-2.0
// An AllReduce with real data over n ranks that are all in this process: the engine over the loop transport.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace detccl::perf::scaling {

struct Calls {
  double us_per_rank = 0;    ///< of one call: the process's time over the ranks; median of `repeats`
  std::uint64_t stages = 0;  ///< that a rank went through, the most of all ranks
  std::uint64_t bytes = 0;   ///< of the message
  bool right = false;        ///< every rank has the contract's bits
};

/// AllReduces of `elements` float32. Throws std::runtime_error where ranks get stuck.
Calls run_calls(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t elements, int repeats);

}  // namespace detccl::perf::scaling
