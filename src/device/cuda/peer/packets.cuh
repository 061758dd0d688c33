// SPDX-License-Identifier: Apache-2.0
// Units of values and results on their way in packets.
#pragma once

#include "device/cuda/peer/packet_record.cuh"
#include "device/cuda/peer/roles.cuh"
#include "device/cuda/peer/unit.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

/// Packets carry the low half of the step's number. So that no packet of 2^32 steps ago is taken for a new
/// one, every so often all places for packets get one, those of either parity.
__device__ __forceinline__ bool refreshes(std::uint64_t step) {
  return (step & 0xfffff) < 2;
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
  if (!part.in_shards()) {
    const std::uint64_t x = load_unit(part.send, at, shard);
#pragma unroll
    for (std::uint32_t k = 0; k < kMaxRanks; ++k)
      given.values[k] = x;
    return given;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxRanks; ++k) {
    if (k >= ranks) break;
    const std::uint32_t owner = rank_after(part, k);
    given.values[k] = load_unit(part.send + owner * shard, at, part.partition.shard_of(owner));
  }
  return given;
}

/// A unit to its place among those at `places` of rank `to`'s region.
__device__ __forceinline__ void put_packet(const Part& part, std::uint32_t to, std::uint64_t places,
                                           std::uint32_t unit, std::uint64_t x, std::uint64_t step) {
  store_packet(part.regions[to] + places + unit * kPacketBytes, pack(x, static_cast<std::uint32_t>(step)));
}

__device__ __forceinline__ void send_unit(const Part& part, const Given& given, std::uint64_t step,
                                          std::uint32_t unit) {
  const Layout& layout = part.layout;
#pragma unroll
  for (std::uint32_t k = 1; k < kMaxRanks; ++k) {
    if (k >= layout.ranks) break;
    put_packet(part, rank_after(part, k), layout.packets(blockIdx.x, step, part.rank), unit, given.values[k],
               step);
  }
}

/// A unit of the results of the own shard.
__device__ __forceinline__ void send_result(const Part& part, std::uint64_t result, std::uint64_t step,
                                            std::uint32_t unit) {
  const Layout& layout = part.layout;
#pragma unroll
  for (std::uint32_t k = 1; k < kMaxRanks; ++k) {
    if (k >= layout.ranks) break;
    const std::uint32_t to = rank_after(part, k);
    if (part.wanted_by != kEveryone && part.wanted_by != to) continue;
    put_packet(part, to, layout.result_packets(blockIdx.x, step, part.rank), unit, result, step);
  }
}

/// A packet that is none of this step's, nor of one soon.
__device__ inline __noinline__ void refresh_result(const Part& part, std::uint64_t step, std::uint32_t unit) {
  for (std::uint32_t k = 1; k < part.layout.ranks; ++k) {
    put_packet(part, rank_after(part, k), part.layout.result_packets(blockIdx.x, step, part.rank), unit, 0,
               step - 2);
  }
}

/// Unit `unit` of every other rank `from`, whose packets begin at `places` of it: take(from, its two words).
/// False: given up.
template <class Places, class Take>
__device__ __forceinline__ bool receive_unit(const Part& part, std::uint64_t step, std::uint32_t unit,
                                             const Places& places, const Take& take) {
  const auto flag = static_cast<std::uint32_t>(step);
  const std::byte* const own = part.regions[part.rank] + unit * kPacketBytes;
  Patience patience(part);
  for (bool all = false; !all;) {
    Packet packets[kMaxRanks];
#pragma unroll
    for (std::uint32_t from = 0; from < kMaxRanks; ++from) {
      if (from < part.layout.ranks && from != part.rank) packets[from] = load_packet(own + places(from));
    }
    all = true;
#pragma unroll
    for (std::uint32_t from = 0; from < kMaxRanks; ++from) {
      if (from < part.layout.ranks && from != part.rank) {
        all = all && has(packets[from], flag);
        take(from, static_cast<std::uint32_t>(packets[from].low),
             static_cast<std::uint32_t>(packets[from].high));
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

/// The number of a shard's first unit among the whole message's.
__device__ __forceinline__ std::uint64_t first_unit(const Part& part, std::uint32_t owner) {
  return owner * (part.partition.shard / kUnit);
}

/// By all threads of a warp.
__device__ __forceinline__ void digest_given(PacketRecord& record, const Part& part, const Given& given,
                                             std::uint64_t unit, bool used) {
  if (!part.in_shards()) return record.add_input(unit, given.values[0], used);
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxRanks; ++k) {
    if (k >= part.layout.ranks) break;
    const std::uint32_t owner = rank_after(part, k);
    record.add_input(first_unit(part, owner) + unit, given.values[k],
                     used && unit * kUnit < part.partition.shard_of(owner));
  }
}

}  // namespace detccl::device::cuda::peer
