// SPDX-License-Identifier: Apache-2.0
// Of all operations of a communicator together.
#pragma once

#include <cstdint>

#include "cli/overhead_native.h"

namespace detccl::cli {

/// Of the steps' time what the operations take: mean over the ranks where it is known; below 0 where it is
/// not known.
double step_share(const Operations& operations);

/// What is known.
struct Total {
  double time = 0, waiting = 0, ours = 0, native = 0;  ///< nanoseconds
  std::uint64_t calls = 0;
  double of_steps = 0, overhead_of_steps = 0;
  bool steps_known = true;  ///< of all operations in steps
  PhaseTimes phases;
};

Total total_of(const CommunicatorSummary& communicator, const Baseline* baseline);

}  // namespace detccl::cli
