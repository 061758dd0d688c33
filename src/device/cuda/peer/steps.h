// SPDX-License-Identifier: Apache-2.0
// The order in which a block of one rank goes through the steps of an operation, and what it waits for. The
// same code runs in the kernels and, with threads for blocks, in a test on the host. docs/peer.md has the
// argument why no slot is overwritten before it was read and why nobody waits in a circle.
#pragma once

#include <cstdint>

#include "device/cuda/peer/layout.h"

namespace detccl::device::cuda::peer {

/// `Block` has
///   bool wait(Flag, step)    until every other rank has raised its flag to `step`; false: give up
///   void raise(Flag, step)   raises ours at every other rank, after everything that was written before
///   void offer(i, step)      our raw values of the operation's step `i` to where they are read
///   void fold(i, step)       ours, to where the results are wanted
///   bool collects() const    whether collect() takes what others have written
///   void collect(i, step)    results from our slots to the output
/// `before`: steps that the block has done before. Steps are numbered on from there, the same on every rank.
/// False if a wait was given up.
template <class Block>
#ifdef __CUDACC__
__device__
#endif
    bool
    run_steps(Block& block, std::uint64_t before, std::uint32_t steps) {
  for (std::uint32_t i = 0; i <= steps; ++i) {
    // Offers are one step ahead of folds, and those one ahead of collections.
    for (std::uint32_t next = i == 0 ? 0 : i + 1; next <= i + 1 && next < steps; ++next) {
      const std::uint64_t step = before + next + 1;
      if (step > kSlots && !block.wait(Flag::done, step - kSlots)) return false;
      block.offer(next, step);
      block.raise(Flag::ready, step);
    }
    if (i < steps) {
      const std::uint64_t step = before + i + 1;
      if (!block.wait(Flag::ready, step)) return false;
      block.fold(i, step);
      block.raise(Flag::done, step);
    }
    if (i > 0) {
      const std::uint64_t step = before + i;
      if (block.collects() && !block.wait(Flag::done, step)) return false;
      block.collect(i - 1, step);
    }
  }
  return true;
}

}  // namespace detccl::device::cuda::peer
