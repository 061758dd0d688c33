// SPDX-License-Identifier: Apache-2.0
// The fingerprints of what a rank gives to a reduction in packets and gets from it, taken of the values that
// its threads have anyway, and the record of both.
#pragma once

#include "device/cuda/peer/request.h"
#include "fingerprint/mix.h"
#include "recorder/cuda/block_record.cuh"

namespace detccl::device::cuda::peer {

/// A block's part. Two units are a word of a fingerprint: an even thread has its first half, whose number is
/// even, and the next thread the other one.
class PacketRecord {
 public:
  __device__ __forceinline__ explicit PacketRecord(const recorder::Recording& recording)
      : recording_(recording) {}

  __device__ __forceinline__ bool wanted() const { return recording_.accumulator != nullptr; }

  /// By all threads of a warp: unit `number` of the payload is `x`, if it is `there`, and else `x` is zero;
  /// so are the last one's bytes beyond the end.
  __device__ __forceinline__ void add_input(std::uint64_t number, std::uint64_t x, bool there) {
    add(input_, number, x, there);
  }
  __device__ __forceinline__ void add_output(std::uint64_t number, std::uint64_t x, bool there) {
    add(output_, number, x, there);
  }

  /// Takes the record's place, once the first packets of all ranks are there: while other warps fold, but not
  /// earlier, for whoever reads the ring waits for the place, and a rank may be late.
  __device__ __forceinline__ void reserve() {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      place_ = recorder::reserve<Memory>(recording_.ring, recording_.operations);
  }

  /// By all threads of each block, also of those that have given up. `complete`: whether the block has not.
  __device__ __forceinline__ void finish(bool complete) const {
    recorder::cuda::leave_record<recorder::cuda::BlockThreads<kPacketThreads>>(
        recording_, input_, output_, place_, complete, 1, gridDim.x);
  }

 private:
  using Memory = recorder::cuda::DeviceMemory;
  using Sums = fingerprint::Sums;

  __device__ __forceinline__ static void add(Sums& sums, std::uint64_t number, std::uint64_t x, bool there) {
    const std::uint64_t next = __shfl_down_sync(0xffffffff, x, 1);
    if (there && threadIdx.x % 2 == 0) sums += fingerprint::mix({x, next}, fingerprint::key_at(number / 2));
  }

  const recorder::Recording& recording_;
  Sums input_, output_;
  recorder::Reserved place_;
};

}  // namespace detccl::device::cuda::peer
