// SPDX-License-Identifier: Apache-2.0
// When a program's transfers and folds take place where communication is a queue that works in order, as on a
// CUDA stream: every transfer gets a tick, the same at both of its ends, and a rank carries out tick after
// tick. A rank then never waits in one tick for what a peer does in a later one, so there is no deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace detccl::engine::stream {

/// In ticks from the program's start.
struct Timetable {
  std::vector<std::uint32_t> transfers;  ///< by stage, its receives, then its sends
  std::vector<std::uint32_t> folds;      ///< by stage: its folds follow this tick's transfers
  std::uint32_t length = 0;  ///< so many ticks after its start the program's scratch is free again
};

/// Whether all exchange with all, in one stage or two.
bool aligned(const plan::Spec& spec);

/// The timetables of all ranks in `ranks`; their length is that of the longest of all ranks, also those not
/// asked for. `latency`: ticks from a stage's last transfer to the first one that may use what it has folded,
/// at least 1. Takes time proportional to the programs of `ranks` where ranks go in step (plan::steps()),
/// else to those of all ranks.
std::vector<Timetable> timetables(const plan::Spec& spec, const std::vector<std::uint32_t>& ranks,
                                  std::uint32_t latency);

}  // namespace detccl::engine::stream
