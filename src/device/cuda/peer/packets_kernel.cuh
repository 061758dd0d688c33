// SPDX-License-Identifier: Apache-2.0
// The smallest reductions: values travel in packets that say themselves when they are there, so that one way
// to the peers is all.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/packet_record.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

inline constexpr std::uint32_t kUnit = 8;  ///< bytes of payload in a packet
inline constexpr std::uint32_t kLanes = 32;

template <class Shape>
struct PacketsArguments {
  Part part;
  Arguments<Shape::kCapacity> fold;  ///< without addresses
  recorder::Recording recording;     ///< without an accumulator: none
  std::uint32_t units_per_block;     ///< at most kPacketUnits, even
};

/// Packets carry the low half of the step's number. So that no packet of 2^32 steps ago is taken for a new
/// one, every so often all places for packets get one, those of either parity.
__device__ __forceinline__ bool refreshes(std::uint64_t step) {
  return (step & 0xfffff) < 2;
}

/// Bytes `at` … of an array of `bytes` bytes, one by one; what is beyond its end is 0.
inline __device__ __noinline__ std::uint64_t load_bytes(const std::byte* array, std::uint64_t at,
                                                        std::uint64_t bytes) {
  std::uint64_t x = 0;
  for (std::uint32_t i = 0; i < kUnit; ++i) {
    if (at + i < bytes) x |= static_cast<std::uint64_t>(array[at + i]) << 8 * i;
  }
  return x;
}

__device__ __forceinline__ bool is_whole_unit(const std::byte* array, std::uint64_t at, std::uint64_t bytes) {
  return at + kUnit <= bytes && reinterpret_cast<std::uintptr_t>(array + at) % kUnit == 0;
}

__device__ __forceinline__ std::uint64_t load_unit(const std::byte* array, std::uint64_t at,
                                                   std::uint64_t bytes) {
  if (is_whole_unit(array, at, bytes)) return *reinterpret_cast<const std::uint64_t*>(array + at);
  return load_bytes(array, at, bytes);
}

__device__ inline void store_unit(std::byte* array, std::uint64_t at, std::uint64_t bytes, std::uint64_t x) {
  std::byte* const to = array + at;
  if (is_whole_unit(array, at, bytes)) {
    *reinterpret_cast<std::uint64_t*>(to) = x;
    return;
  }
  for (std::uint32_t i = 0; i < kUnit; ++i) {
    if (at + i < bytes) to[i] = static_cast<std::byte>(x >> 8 * i);
  }
}

__device__ __forceinline__ Packet pack(std::uint64_t x, std::uint32_t flag) {
  const std::uint64_t high = std::uint64_t{flag} << 32;
  return {(x & 0xffffffff) | high, x >> 32 | high};
}
__device__ __forceinline__ bool has(const Packet& p, std::uint32_t flag) {
  return static_cast<std::uint32_t>(p.low >> 32) == flag && static_cast<std::uint32_t>(p.high >> 32) == flag;
}

/// (rank + k) % ranks, k at most ranks: a division takes longer than a small reduction's sums.
__device__ __forceinline__ std::uint32_t rank_after(const Part& part, std::uint32_t k) {
  const std::uint32_t rank = part.rank + k;
  return rank < part.layout.ranks ? rank : rank - part.layout.ranks;
}

/// What a rank gives of one unit: values[k] is for rank (rank + k) % ranks.
struct Given {
  std::uint64_t values[kMaxRanks];
};

/// All loads are under way at the same time.
__device__ __forceinline__ Given load_given(const Part& part, std::uint64_t at) {
  const std::uint32_t ranks = part.layout.ranks;
  const std::uint64_t shard = part.partition.shard;
  Given given;
  if (!part.scattered) {
    const std::uint64_t x = load_unit(part.send, at, shard);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxRanks; ++k)
      given.values[k] = x;
    return given;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxRanks; ++k) {
    if (k < ranks) given.values[k] = load_unit(part.send + rank_after(part, k) * shard, at, shard);
  }
  return given;
}

__device__ __forceinline__ void send_unit(const Part& part, const Given& given, std::uint64_t step,
                                          std::uint32_t unit) {
  const Layout& layout = part.layout;
#pragma unroll
  for (std::uint32_t k = 1; k < kMaxRanks; ++k) {
    if (k >= layout.ranks) break;
    const std::uint32_t to = rank_after(part, k);
    store_packet(part.regions[to] + layout.packets(blockIdx.x, step, part.rank) + unit * kPacketBytes,
                 pack(given.values[k], static_cast<std::uint32_t>(step)));
  }
}

/// A unit of every rank. False: given up.
template <class Loaded>
__device__ bool receive_unit(const Part& part, Loaded& loaded, std::uint64_t step, std::uint32_t unit) {
  const auto flag = static_cast<std::uint32_t>(step);
  const std::byte* const own = part.regions[part.rank];
  Patience patience(part);
  for (bool all = false; !all;) {
    Packet packets[kMaxRanks];
#pragma unroll
    for (std::uint32_t from = 0; from < kMaxRanks; ++from) {
      if (from < part.layout.ranks && from != part.rank)
        packets[from] = load_packet(own + part.layout.packets(blockIdx.x, step, from) + unit * kPacketBytes);
    }
    all = true;
#pragma unroll
    for (std::uint32_t from = 0; from < kMaxRanks; ++from) {
      if (from < part.layout.ranks && from != part.rank) {
        all = all && has(packets[from], flag);
        loaded.operand[from].words[0] = static_cast<std::uint32_t>(packets[from].low);
        loaded.operand[from].words[1] = static_cast<std::uint32_t>(packets[from].high);
      }
    }
    if (!all && !patience.again()) return false;
  }
  return true;
}

/// A unit in its place among the others, which must be known when the kernel is compiled to stay in
/// registers.
template <class Loaded>
__device__ __forceinline__ void put_own(Loaded& loaded, std::uint32_t rank, std::uint64_t x) {
#pragma unroll
  for (std::uint32_t j = 0; j < kMaxRanks; ++j) {
    if (j != rank) continue;
    loaded.operand[j].words[0] = static_cast<std::uint32_t>(x);
    loaded.operand[j].words[1] = static_cast<std::uint32_t>(x >> 32);
  }
}

/// By all threads of a warp.
__device__ __forceinline__ void digest_given(PacketRecord& record, const Part& part, const Given& given,
                                             std::uint64_t unit, bool there) {
  if (!part.scattered) return record.add_input(unit, given.values[0], there);
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxRanks; ++k) {
    if (k < part.layout.ranks)
      record.add_input(rank_after(part, k) * (part.partition.shard / kUnit) + unit, given.values[k], there);
  }
}

/// What of the unit at byte `at` is within an array of `bytes` bytes.
__device__ __forceinline__ std::uint64_t within(std::uint64_t x, std::uint64_t at, std::uint64_t bytes) {
  return at + kUnit <= bytes ? x : x & ((std::uint64_t{1} << 8 * (bytes - at)) - 1);
}

/// Partition: shards of `shard` bytes, the whole message or, scattered, one of them for each rank.
template <class Shape>
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
  const std::uint32_t end = (units + kLanes - 1) / kLanes * kLanes;  // a warp's threads stay together
  for (std::uint32_t unit = threadIdx.x; unit < end; unit += blockDim.x) {
    if (unit < units) send_unit(part, given, step, unit);
    if (record.wanted()) digest_given(record, part, given, first + unit, unit < used);
    const std::uint32_t next = unit + blockDim.x;
    given = next < used ? load_given(part, (first + next) * kUnit) : Given{};
  }
  const Unit folder(a.fold);
  bool complete = true;
  for (std::uint32_t unit = threadIdx.x; unit < end; unit += blockDim.x) {
    typename Unit::Loaded loaded;
    complete = unit >= units || receive_unit(part, loaded, step, unit);
    complete = __all_sync(0xffffffff, static_cast<int>(complete)) != 0;
    if (!complete) break;
    if (record.wanted() && unit == threadIdx.x) record.reserve();
    std::uint64_t result = 0;
    if (unit < used && part.receive != nullptr) {
      const std::uint64_t at = (first + unit) * kUnit;
      const std::byte* const from = part.send + (part.scattered ? part.rank * shard : 0);
      put_own(loaded, part.rank, unit == threadIdx.x ? own : load_unit(from, at, shard));
      const auto f = folder.result(loaded);
      result = f.words[0] | std::uint64_t{f.words[1]} << 32;
      store_unit(part.receive, at, shard, result);
      result = within(result, at, shard);
    }
    if (record.wanted() && part.receive != nullptr) record.add_output(first + unit, result, unit < used);
  }
  // The counter was read before the barrier above.
  if (threadIdx.x == 0 && complete) *counter = step;
  if (record.wanted()) record.finish(__syncthreads_and(static_cast<int>(complete)) != 0);
}

}  // namespace detccl::device::cuda::peer
