// SPDX-License-Identifier: Apache-2.0
// One rank's program prepared for a stream: where its scratch is, and what happens in which tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "device/host/fold.h"
#include "plan/plan.h"

namespace detccl::engine::stream {

/// A fold's operands at most; longer folds go through partial results (see device/cuda/fold.h).
inline constexpr std::size_t kMaxOperands = 1024;

/// What happens in one tick of a program: transfers of one stage, then perhaps its folds.
struct Action {
  std::uint32_t tick = 0;
  std::uint32_t stage = 0;
  std::vector<std::uint32_t> receives;  ///< indices into the stage's receives …
  std::vector<std::uint32_t> sends;     ///< … and sends
  bool folds = false;
  /// Instead of the transfers: what everyone sends goes to everyone, so that it lies in rank order around
  /// where the receives put it.
  bool all_gather = false;
};

struct StreamProgram {
  std::shared_ptr<const plan::Program> program;
  std::vector<std::size_t> slots;  ///< bytes from the start of the scratch to each slot
  std::size_t partials = 0;        ///< bytes to the place for partial results of long folds
  std::size_t scratch = 0;         ///< bytes that every rank sets aside: those of the rank with the most
  std::vector<Action> serial;      ///< ascending ticks; a fold's results are there in the next tick …
  std::vector<Action> overlapped;  ///< … or in the next but one
  // In ticks, and the same on every rank:
  std::uint32_t serial_length = 0;
  std::uint32_t overlapped_length = 0;
  /// Overlapped: so long after its first use a rank's scratch is free again, on the rank where it takes
  /// longest. Programs of the same kind that start so far apart can use the same memory; those of different
  /// kinds, where a rank's first use may be earlier in the second, if they start overlapped_length apart.
  std::uint32_t scratch_life = 1;
  std::tuple<plan::Collective, plan::Schedule, std::uint32_t> kind;  ///< and the root
};

/// `program` is rank `rank`'s of `spec`. `gathers`: whether all-gathers may be used, the same on every rank.
/// Time: as timetables().
StreamProgram prepare(std::shared_ptr<const plan::Program> program, const plan::Spec& spec,
                      std::uint32_t rank, const device::host::Arithmetic& arithmetic, bool gathers);

}  // namespace detccl::engine::stream
