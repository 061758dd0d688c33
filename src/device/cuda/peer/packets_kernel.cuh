// SPDX-License-Identifier: Apache-2.0
// The smallest reductions: values travel in packets that say themselves when they are there, so that one way
// to the peers is all.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

inline constexpr unsigned kPacketThreads = 512;
inline constexpr std::uint32_t kUnit = 8;  ///< bytes of payload in a packet

template <class Shape>
struct PacketsArguments {
  Part part;
  Arguments<Shape::kCapacity> fold;  ///< without addresses
  std::uint32_t units_per_block;     ///< at most kPacketUnits
};

/// Packets carry the low half of the step's number. So that no packet of 2^32 steps ago is taken for a new
/// one, every so often all places for packets get one, those of either parity.
__device__ __forceinline__ bool refreshes(std::uint64_t step) {
  return (step & 0xfffff) < 2;
}

/// Bytes `at` … of an array of `bytes` bytes; what is beyond its end is 0.
__device__ inline std::uint64_t load_unit(const std::byte* array, std::uint64_t at, std::uint64_t bytes) {
  const std::byte* const from = array + at;
  if (at + kUnit <= bytes && reinterpret_cast<std::uintptr_t>(from) % kUnit == 0)
    return *reinterpret_cast<const std::uint64_t*>(from);
  std::uint64_t x = 0;
  for (std::uint32_t i = 0; i < kUnit; ++i) {
    if (at + i < bytes) x |= static_cast<std::uint64_t>(from[i]) << 8 * i;
  }
  return x;
}

__device__ inline void store_unit(std::byte* array, std::uint64_t at, std::uint64_t bytes, std::uint64_t x) {
  std::byte* const to = array + at;
  if (at + kUnit <= bytes && reinterpret_cast<std::uintptr_t>(to) % kUnit == 0) {
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
  auto* const counter =
      reinterpret_cast<std::uint64_t*>(part.regions[part.rank] + layout.counters(blockIdx.x)) + 1;
  if (threadIdx.x == 0) {
    before = *counter;
    failed = failed_before(part);
  }
  __syncthreads();
  if (failed) return;
  const std::uint64_t step = before + 1, shard = part.partition.shard;
  const auto flag = static_cast<std::uint32_t>(step);
  const std::uint64_t first = std::uint64_t{blockIdx.x} * a.units_per_block;
  const std::uint64_t left = (shard + kUnit - 1) / kUnit - first;
  const auto used = static_cast<std::uint32_t>(left < a.units_per_block ? left : a.units_per_block);
  const std::uint32_t units = refreshes(step) ? kPacketUnits : used;
  for (std::uint32_t unit = threadIdx.x; unit < units; unit += blockDim.x) {
    for (std::uint32_t k = 1; k < layout.ranks; ++k) {
      const std::uint32_t to = (part.rank + k) % layout.ranks;
      const std::byte* const values = part.send + (part.scattered ? to * shard : 0);
      const std::uint64_t x = unit < used ? load_unit(values, (first + unit) * kUnit, shard) : 0;
      store_packet(part.regions[to] + layout.packets(blockIdx.x, step, part.rank) + unit * kPacketBytes,
                   pack(x, flag));
    }
  }
  const Unit folder(a.fold);
  for (std::uint32_t unit = threadIdx.x; unit < units; unit += blockDim.x) {
    typename Unit::Loaded loaded;
    if (!receive_unit(part, loaded, step, unit)) return;
    if (unit >= used || part.receive == nullptr) continue;
    const std::uint64_t at = (first + unit) * kUnit;
    put_own(loaded, part.rank, load_unit(part.send + (part.scattered ? part.rank * shard : 0), at, shard));
    const auto f = folder.result(loaded);
    store_unit(part.receive, at, shard, f.words[0] | std::uint64_t{f.words[1]} << 32);
  }
  // The counter was read before the barrier above.
  if (threadIdx.x == 0) *counter = step;
}

}  // namespace detccl::device::cuda::peer
