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

/// A block of at most kMost threads, in whole warps.
template <unsigned kMost>
struct BlockThreads {
  static constexpr unsigned kMaxWarps = kMost / kWarp;
  __device__ static unsigned thread() { return threadIdx.x; }
  __device__ static unsigned warps() { return blockDim.x / kWarp; }
  __device__ static void sync() { __syncthreads(); }
};

/// Of all of `Threads`; the first one has the results.
template <class Threads>
__device__ __forceinline__ void sum_of(fingerprint::Sums& input, fingerprint::Sums& output) {
  constexpr unsigned kCount = 4;
  static_assert(Threads::kMaxWarps <= kWarp);
  __shared__ std::uint64_t of_warps[kCount][Threads::kMaxWarps];
  std::uint64_t* const sums[kCount] = {&input.a, &input.b, &output.a, &output.b};
  const unsigned thread = Threads::thread(), lane = thread % kWarp;
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j) {
    const std::uint64_t its = sum_of_warp(*sums[j]);
    if (lane == 0) of_warps[j][thread / kWarp] = its;
  }
  Threads::sync();
  if (thread >= kWarp) return;
#pragma unroll
  for (unsigned j = 0; j < kCount; ++j)
    *sums[j] = sum_of_warp(lane < Threads::warps() ? of_warps[j][lane] : 0);
}

/// Adds so many `parts` of all `wanted`. Who adds the last one gets everything. `place`: where the kernel's
/// was taken, else empty.
__device__ __forceinline__ bool is_last(Accumulator& all, unsigned parts, unsigned wanted,
                                        fingerprint::Sums& input, fingerprint::Sums& output, Reserved& place,
                                        bool& complete) {
  using Memory = DeviceMemory;
  Memory::add(all.input.a, input.a);
  Memory::add(all.input.b, input.b);
  Memory::add(all.output.a, output.a);
  Memory::add(all.output.b, output.b);
  if (!complete) Memory::add(all.failed, 1);
  if (place.taken) all.place = place;
  __threadfence();  // before it is counted
  if (Memory::add(all.parts, parts) + parts != wanted) return false;
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

/// By all of `Threads`, which have so many `parts` of the kernel's `wanted`, also where they have given up:
/// then they are not `complete`, and the place stays empty. `place`: what the first of them has reserved, if
/// it has. Arguments by value, so that they stay in registers until then.
template <class Threads>
__device__ __noinline__ void leave_record(const Recording& recording, fingerprint::Sums input,
                                          fingerprint::Sums output, Reserved place, bool complete,
                                          unsigned parts, unsigned wanted) {
  if (complete) sum_of<Threads>(input, output);  // else they do not matter
  if (Threads::thread() != 0) return;
  if (parts != wanted && !is_last(*recording.accumulator, parts, wanted, input, output, place, complete))
    return;
  if (!place.taken) return;
  fill<DeviceMemory>(recording.ring, complete ? recording.site : kNoSite, place, input, output);
}

}  // namespace detccl::recorder::cuda
