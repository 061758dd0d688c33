// SPDX-License-Identifier: Apache-2.0
// How a kernel that takes the digests of its own input and output leaves their record: each block adds up
// what its threads have, and the last block to do so writes.
#pragma once

#include "recorder/cuda/device_memory.cuh"
#include "recorder/ring.h"

namespace detccl::recorder::cuda {

inline constexpr unsigned kWarp = 32;

__device__ __forceinline__ std::uint64_t sum_of_warp(std::uint64_t x) {
#pragma unroll
  for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
    x += __shfl_down_sync(0xffffffff, x, distance);
  return x;
}

/// Of all threads of a block of whole warps, at most kMaxThreads. Thread 0 has the results.
template <unsigned kMaxThreads>
__device__ __forceinline__ void sum_of_block(fingerprint::Sums& input, fingerprint::Sums& output) {
  constexpr unsigned kCount = 4, kWarps = kMaxThreads / kWarp;
  static_assert(kWarps <= kWarp);
  __shared__ std::uint64_t of_warps[kCount][kWarps];
  std::uint64_t* const sums[kCount] = {&input.a, &input.b, &output.a, &output.b};
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j) {
    const std::uint64_t its = sum_of_warp(*sums[j]);
    if (lane == 0) of_warps[j][threadIdx.x / kWarp] = its;
  }
  __syncthreads();
  if (threadIdx.x >= kWarp) return;
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j)
    *sums[j] = sum_of_warp(lane < blockDim.x / kWarp ? of_warps[j][lane] : 0);
}

/// Adds a block's part. The last block gets everything.
__device__ __forceinline__ bool is_last(Accumulator& all, fingerprint::Sums& input, fingerprint::Sums& output,
                                        Reserved& place, bool& complete) {
  using Memory = DeviceMemory;
  Memory::add(all.input.a, input.a);
  Memory::add(all.input.b, input.b);
  Memory::add(all.output.a, output.a);
  Memory::add(all.output.b, output.b);
  if (!complete) Memory::add(all.failed, 1);
  if (blockIdx.x == 0) all.place = place;
  __threadfence();  // before it is counted
  if (Memory::add(all.blocks, 1) + 1 != gridDim.x) return false;
  __threadfence();
  input = {Memory::load(all.input.a), Memory::load(all.input.b)};
  output = {Memory::load(all.output.a), Memory::load(all.output.b)};
  complete = Memory::load(all.failed) == 0;
  const volatile Reserved& its = all.place;
  place.index = its.index;
  place.number = its.number;
  place.dropped = its.dropped;
  place.taken = its.taken;
  all = {};
  return true;
}

/// By all threads of each block, also of those that have given up: theirs are not `complete`, and then the
/// place stays empty. `place`: what thread 0 of the first block has reserved. Arguments by value, so that
/// they stay in registers until then.
template <unsigned kMaxThreads>
__device__ __noinline__ void leave_record(const Recording& recording, fingerprint::Sums input,
                                          fingerprint::Sums output, Reserved place, bool complete) {
  sum_of_block<kMaxThreads>(input, output);
  if (threadIdx.x != 0) return;
  if (gridDim.x > 1 && !is_last(*recording.accumulator, input, output, place, complete)) return;
  if (!place.taken) return;
  fill<DeviceMemory>(recording.ring, complete ? recording.site : kNoSite, place, input, output);
}

}  // namespace detccl::recorder::cuda
