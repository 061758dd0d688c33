// SPDX-License-Identifier: Apache-2.0
// Where what a block copies and folds is in memory.
#pragma once

#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/request.h"

namespace detccl::device::cuda::peer {

/// Of a block of one rank. `i`: a step of the operation, `step`: its number in the block's sequence.
struct Places {
  const Part& part;

  /// (rank + k) % ranks, k at most ranks.
  __device__ std::uint32_t rank_after(std::uint32_t k) const {
    const std::uint32_t rank = part.rank + k;
    return rank < part.layout.ranks ? rank : rank - part.layout.ranks;
  }
  /// What `owner` folds in step i of the operation.
  __device__ Range folded_by(std::uint32_t owner, std::uint32_t i) const {
    return part.partition.range(part.two_shot ? owner : 0, blockIdx.x, i);
  }
  __device__ std::byte* results_of(std::uint32_t owner, std::uint64_t step) const {
    return part.regions[part.rank] + part.layout.results(blockIdx.x, step, owner);
  }
  __device__ std::byte* output(const Range& range) const {
    return part.receive + (range.begin - part.received_from);
  }
  /// Whether some of this rank's results are folded by others.
  __device__ bool takes_others() const { return part.two_shot && !part.scattered; }
  /// Whether this rank has anything to fold: in one shot those that receive nothing have not.
  __device__ bool folds() const { return part.two_shot || part.receive != nullptr; }

  /// Where rank `from`'s values are, at an aligned address.
  __device__ const std::byte* operand(std::uint32_t from, const Range& range, std::uint64_t step) const {
    const std::byte* const mine = part.send + range.begin;
    if (from == part.rank && is_aligned(mine)) return mine;
    return part.regions[part.rank] + part.layout.raw(blockIdx.x, step, from);
  }

  /// Where rank `to` gets the results, at an aligned address; null: nowhere.
  __device__ std::byte* result(std::uint32_t to, const Range& range, std::uint64_t step) const {
    if (to == part.rank) {
      if (part.receive == nullptr) return nullptr;
      std::byte* const place = output(range);
      return is_aligned(place) ? place : results_of(part.rank, step);
    }
    if (!takes_others() || (part.wanted_by != kEveryone && part.wanted_by != to)) return nullptr;
    return part.regions[to] + part.layout.results(blockIdx.x, step, part.rank);
  }
};

}  // namespace detccl::device::cuda::peer
