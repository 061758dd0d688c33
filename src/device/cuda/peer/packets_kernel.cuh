// SPDX-License-Identifier: Apache-2.0
// The smallest reductions: values travel in packets that say themselves when they are there, so that one way
// to the peers is all, or by shards two.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/packets.cuh"

namespace detccl::device::cuda::peer {

template <class Shape>
struct PacketsArguments {
  Part part;
  Arguments<Shape::kCapacity> fold;  ///< without addresses
  recorder::Recording recording;     ///< without an accumulator: none
  std::uint32_t units_per_block;     ///< at most kPacketUnits, even
};

/// The results of other ranks' shards, unit by unit, to the output. False: given up.
__device__ __forceinline__ bool collect_results(const Part& part, PacketRecord& record, std::uint64_t step,
                                                std::uint64_t first, std::uint32_t used) {
  const std::uint32_t end = (used + kWarp - 1) / kWarp * kWarp;
  for (std::uint32_t unit = threadIdx.x; unit < end; unit += blockDim.x) {
    std::uint64_t results[kMaxRanks] = {};
    bool complete = true;
    if (unit < used) {
      complete = receive_unit(
          part, step, unit,
          [&](std::uint32_t from) { return part.layout.result_packets(blockIdx.x, step, from); },
          [&](std::uint32_t from, std::uint32_t low, std::uint32_t high) {
            results[from] = low | std::uint64_t{high} << 32;
          });
    }
    if (__all_sync(0xffffffff, static_cast<int>(complete)) == 0) return false;
    const std::uint64_t at = (first + unit) * kUnit;
#pragma unroll
    for (std::uint32_t from = 0; from < kMaxRanks; ++from) {
      if (from >= part.layout.ranks) break;
      if (from == part.rank) continue;
      const std::uint64_t size = part.partition.shard_of(from);
      const bool there = unit < used && at < size;
      if (there) store_unit(part.receive + from * part.partition.shard, at, size, results[from]);
      if (record.wanted()) record.add_output(first_unit(part, from) + first + unit, results[from], there);
    }
  }
  return true;
}

/// Partition: shards of `shard` bytes, the whole message or, in shards, one of them for each rank.
/// `kTwoShot`: Part::two_shot, so that what goes one way only is as quick as it can be.
template <class Shape, bool kTwoShot>
__global__ void __launch_bounds__(kPacketThreads)
    packets_kernel(const __grid_constant__ PacketsArguments<Shape> a) {
  using Unit = Folder<Shape, static_cast<int>(kUnit / sizeof(typename Shape::Bits))>;
  static_assert(Shape::kGroup == kMaxRanks);
  __shared__ std::uint64_t before;
  __shared__ bool failed;
  const Part& part = a.part;
  const Layout& layout = part.layout;
  const std::uint64_t shard = part.partition.shard;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * a.units_per_block;
  const std::uint64_t left = (shard + kUnit - 1) / kUnit - first;
  const auto used = static_cast<std::uint32_t>(left < a.units_per_block ? left : a.units_per_block);
  auto* const counter =
      reinterpret_cast<std::uint64_t*>(part.regions[part.rank] + layout.counters(blockIdx.x)) + 1;
  // All loads are under way together: a small reduction takes no longer than a few of them.
  const std::uint64_t counted = threadIdx.x == 0 ? *counter : 0;
  const bool failed_earlier = threadIdx.x == 0 && failed_before(part);
  Given given{};
  if (threadIdx.x < used) given = load_given(part, (first + threadIdx.x) * kUnit);
  if (threadIdx.x == 0) {
    before = counted;
    failed = failed_earlier;
  }
  __syncthreads();
  PacketRecord record(a.recording);
  if (failed) {
    if (record.wanted()) record.finish(false);
    return;
  }
  const std::uint64_t step = before + 1;
  const std::uint32_t units = refreshes(step) ? kPacketUnits : used;
  const std::uint64_t own = given.values[0];
  const std::uint32_t end = (units + kWarp - 1) / kWarp * kWarp;  // a warp's threads stay together
  for (std::uint32_t unit = threadIdx.x; unit < end; unit += blockDim.x) {
    if (unit < units) send_unit(part, given, step, unit);
    if (refreshes(step) && unit < units) refresh_result(part, step, unit);
    if (record.wanted()) digest_given(record, part, given, first + unit, unit < used);
    const std::uint32_t next = unit + blockDim.x;
    given = next < used ? load_given(part, (first + next) * kUnit) : Given{};
  }
  const Unit folder(a.fold);
  const std::uint64_t size = part.in_shards() ? part.partition.shard_of(part.rank) : shard;
  const std::uint64_t begin = part.in_shards() ? part.rank * shard : 0;
  const bool folds = kTwoShot || part.receive != nullptr;
  bool complete = true;
  for (std::uint32_t unit = threadIdx.x; unit < end; unit += blockDim.x) {
    typename Unit::Loaded loaded;
    complete =
        unit >= units ||
        receive_unit(
            part, step, unit, [&](std::uint32_t from) { return layout.packets(blockIdx.x, step, from); },
            [&](std::uint32_t from, std::uint32_t low, std::uint32_t high) {
              loaded.operand[from].words[0] = low;
              loaded.operand[from].words[1] = high;
            });
    complete = __all_sync(0xffffffff, static_cast<int>(complete)) != 0;
    if (!complete) break;
    if (record.wanted() && unit == threadIdx.x) record.reserve();
    const std::uint64_t at = (first + unit) * kUnit;
    std::uint64_t result = 0;
    if (unit < used && folds) {
      put_own(loaded, part.rank, unit == threadIdx.x ? own : load_unit(part.send + begin, at, size));
      const auto f = folder.result(loaded);
      result = at < size ? within(f.words[0] | std::uint64_t{f.words[1]} << 32, at, size) : 0;
      if constexpr (kTwoShot) send_result(part, result, step, unit);
      if (part.receive != nullptr) store_unit(part.receive + (kTwoShot ? begin : 0), at, size, result);
    }
    if (record.wanted() && part.receive != nullptr) {
      const std::uint64_t number = (kTwoShot ? first_unit(part, part.rank) : 0) + first + unit;
      record.add_output(number, result, unit < used && at < size);
    }
  }
  if constexpr (kTwoShot) {
    if (complete && part.receive != nullptr) complete = collect_results(part, record, step, first, used);
  }
  // The counter was read before the barrier above.
  if (threadIdx.x == 0 && complete) *counter = step;
  if (record.wanted()) record.finish(__syncthreads_and(static_cast<int>(complete)) != 0);
}

}  // namespace detccl::device::cuda::peer
