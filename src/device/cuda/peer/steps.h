// SPDX-License-Identifier: Apache-2.0
// The order in which a block of one rank goes through the steps of an operation, and what it waits for. The
// same code runs in the kernels and, with threads for blocks, in a test on the host; where there are bulk
// copies, the folding team keeps the order by itself (fold_ring.cuh). docs/peer.md has the argument why no
// slot is overwritten before it was read and why nobody waits in a circle.
#pragma once

#include <cstdint>

#include "device/cuda/peer/layout.h"

namespace detccl::device::cuda::peer {

/// Offers are so many steps ahead of collections; a block's slots (layout.h) allow no more.
inline constexpr std::uint32_t kLead = kSlots - 1;

/// A block goes through its steps in two threads of control at the same time: one that copies, one that
/// folds. `Block`, one for each, has
///
///     bool wait(Flag, step)    until every rank, ours too, has raised its flag to `step`; or false
///     void raise(Flag, step)   raises ours at every rank, after everything that was written before
///     void offer(i, step)      our raw values of the operation's step `i` to where they are read
///     void digest_input(i)     takes the digest of our values of step `i`, if that is wanted: before any of
///                              their places may hold results
///     void fold(i, step)       ours, to where the results are wanted
///     void digest_results(i)   takes that of what was folded here and stays here
///     bool collects(i)         whether there is anything to collect
///     void collect(i, step)    results from our slots to the output, and their digest
///
/// `before`: steps that the block has done before. Steps are numbered on from there, the same on every rank.
/// False if a wait was given up.
template <class Block>
#ifdef __CUDACC__
__device__
#endif
    bool
    run_copies(Block& block, std::uint64_t before, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps + kLead; ++i) {
    if (i < steps) {
      const std::uint64_t step = before + i + 1;
      if (step > kSlots && !block.wait(Flag::done, step - kSlots)) return false;
      block.offer(i, step);
      block.digest_input(i);  // some of a team may be at it while others still offer
      block.raise(Flag::ready, step);
    }
    if (i >= kLead && block.collects(i - kLead)) {
      const std::uint64_t step = before + (i - kLead) + 1;
      if (!block.wait(Flag::done, step)) return false;
      block.collect(i - kLead, step);
    }
  }
  return true;
}

template <class Block>
#ifdef __CUDACC__
__device__
#endif
    bool
    run_folds(Block& block, std::uint64_t before, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps; ++i) {
    const std::uint64_t step = before + i + 1;
    if (!block.wait(Flag::ready, step)) return false;
    block.fold(i, step);
    block.raise(Flag::done, step);
    block.digest_results(i);
  }
  return true;
}

/// A block whose operation has one step only: nothing can overlap, so all its threads do everything.
template <class Block>
#ifdef __CUDACC__
__device__
#endif
    bool
    run_alone(Block& block, std::uint64_t before) {
  const std::uint64_t step = before + 1;
  if (step > kSlots && !block.wait(Flag::done, step - kSlots)) return false;
  block.offer(0, step);
  block.raise(Flag::ready, step);
  block.digest_input(0);  // while the peers' values come
  if (!block.wait(Flag::ready, step)) return false;
  block.fold(0, step);
  block.raise(Flag::done, step);
  block.digest_results(0);
  if (!block.collects(0)) return true;
  if (!block.wait(Flag::done, step)) return false;
  block.collect(0, step);
  return true;
}

}  // namespace detccl::device::cuda::peer
