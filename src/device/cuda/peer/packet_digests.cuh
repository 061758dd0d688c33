// SPDX-License-Identifier: Apache-2.0
// The fingerprints of what a rank gives to a reduction in packets and gets from it, taken of the values that
// its threads have anyway, and the record of both.
#pragma once

#include "device/cuda/peer/request.h"
#include "fingerprint/mix.h"
#include "recorder/cuda/last_block.cuh"

namespace detccl::device::cuda::peer {

/// A block's part. Two units are a word of a fingerprint: an even thread has its first half, whose number is
/// even, and the next thread the other one.
class PacketDigests {
 public:
  /// By all threads of a warp: unit `number` of the payload is `x`, if it is `there`, and else `x` is zero;
  /// so are the last one's bytes beyond the end.
  __device__ __forceinline__ void add_input(std::uint64_t number, std::uint64_t x, bool there) {
    add(input_, number, x, there);
  }
  __device__ __forceinline__ void add_output(std::uint64_t number, std::uint64_t x, bool there) {
    add(output_, number, x, there);
  }

  /// By all threads of the block, when the operation has come to its end.
  __device__ __forceinline__ void finish(const recorder::Recording& recording) const {
    add_up(recording, input_, output_);
  }

 private:
  static constexpr unsigned kWarp = 32, kAll = 0xffffffff;

  /// Sums by value, so that they stay in registers until then.
  __device__ __noinline__ static void add_up(const recorder::Recording& recording, fingerprint::Sums input,
                                             fingerprint::Sums output) {
    using recorder::cuda::word;
    __shared__ std::uint64_t of_warps[4][kPacketThreads / kWarp];
    std::uint64_t* const sums[] = {&recording.accumulator->input.a, &recording.accumulator->input.b,
                                   &recording.accumulator->output.a, &recording.accumulator->output.b};
    const std::uint64_t own[] = {input.a, input.b, output.a, output.b};
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint64_t x = sum_of_warp(own[i]);
      if (threadIdx.x % kWarp == 0) of_warps[i][threadIdx.x / kWarp] = x;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      std::uint64_t x = 0;
      for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp)
        x += of_warps[i][warp];
      atomicAdd(word(*sums[i]), static_cast<recorder::cuda::AtomicWord>(x));
    }
    recorder::cuda::count_block(recording, gridDim.x);
  }

  __device__ __forceinline__ static void add(fingerprint::Sums& sums, std::uint64_t number, std::uint64_t x,
                                             bool there) {
    const std::uint64_t next = __shfl_down_sync(kAll, x, 1);
    if (there && threadIdx.x % 2 == 0) sums += fingerprint::mix({x, next}, fingerprint::key_at(number / 2));
  }

  __device__ __forceinline__ static std::uint64_t sum_of_warp(std::uint64_t x) {
#pragma unroll
    for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
      x += __shfl_down_sync(kAll, x, distance);
    return x;
  }

  fingerprint::Sums input_, output_;
};

}  // namespace detccl::device::cuda::peer
