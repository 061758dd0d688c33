// SPDX-License-Identifier: Apache-2.0
// The fingerprints of what a rank gives to a reduction in packets and gets from it, taken of the values that
// its threads have anyway, and the record of both.
#pragma once

#include "device/cuda/peer/request.h"
#include "fingerprint/mix.h"
#include "recorder/cuda/device_memory.cuh"

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
    add_up(recording_, input_, output_, place_, complete);
  }

 private:
  using Memory = recorder::cuda::DeviceMemory;
  using Sums = fingerprint::Sums;
  static constexpr unsigned kWarp = 32, kAll = 0xffffffff;

  __device__ __forceinline__ static void add(Sums& sums, std::uint64_t number, std::uint64_t x, bool there) {
    const std::uint64_t next = __shfl_down_sync(kAll, x, 1);
    if (there && threadIdx.x % 2 == 0) sums += fingerprint::mix({x, next}, fingerprint::key_at(number / 2));
  }

  __device__ __forceinline__ static std::uint64_t sum_of_warp(std::uint64_t x) {
#pragma unroll
    for (unsigned distance = kWarp / 2; distance > 0; distance /= 2)
      x += __shfl_down_sync(kAll, x, distance);
    return x;
  }

  /// Thread 0 has the result.
  __device__ __forceinline__ static Sums sum_of_block(const Sums& sums) {
    __shared__ Sums of_warps[kPacketThreads / kWarp];
    Sums all = {sum_of_warp(sums.a), sum_of_warp(sums.b)};
    __syncthreads();  // of another payload
    if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = all;
    __syncthreads();
    if (threadIdx.x != 0) return all;
    for (unsigned warp = 1; warp < blockDim.x / kWarp; ++warp)
      all += of_warps[warp];
    return all;
  }

  /// Arguments by value, so that they stay in registers until then.
  __device__ __noinline__ static void add_up(const recorder::Recording& recording, Sums input, Sums output,
                                             recorder::Reserved place, bool complete) {
    input = sum_of_block(input);
    output = sum_of_block(output);
    if (threadIdx.x != 0) return;
    if (gridDim.x > 1 && !is_last(*recording.accumulator, input, output, place, complete)) return;
    if (!place.taken) return;
    recorder::fill<Memory>(recording.ring, complete ? recording.site : recorder::kNoSite, place, input,
                           output);
  }

  /// Adds a block's part. The last block gets everything.
  __device__ __forceinline__ static bool is_last(recorder::Accumulator& all, Sums& input, Sums& output,
                                                 recorder::Reserved& place, bool& complete) {
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
    const volatile recorder::Reserved& its = all.place;
    place.index = its.index;
    place.number = its.number;
    place.taken = its.taken;
    all = {};
    return true;
  }

  const recorder::Recording& recording_;
  Sums input_, output_;
  recorder::Reserved place_;
};

}  // namespace detccl::device::cuda::peer
