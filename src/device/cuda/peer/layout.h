// SPDX-License-Identifier: Apache-2.0
// Where things are in a rank's region of memory that all ranks of the group can read and write. A block of a
// kernel has its own flags and slots, whatever runs in it, and touches no other block's; so what is proved of
// one block, which goes through its steps one after the other, is proved of all.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/host_device.h"

namespace detccl::device::cuda::peer {

inline constexpr std::uint32_t kMaxRanks = 8;
inline constexpr std::uint32_t kMaxBlocks = 64;
/// Slots that steps use in turn (steps.h).
inline constexpr std::uint32_t kSlots = 4;
/// Packets that one block takes from one rank in a step: a packet is 8 bytes of payload in 16.
inline constexpr std::uint32_t kPacketUnits = 1024;
inline constexpr std::uint32_t kPacketBytes = 16;

/// What a flag is raised for. Flags hold the number of the last step; steps count from 1.
enum class Flag : std::uint8_t {
  ready,  ///< rank r's part of the step is where its reader looks for it
  done,   ///< rank r has folded the step, and written what is to be written of its results
};

/// Bytes of a slot. A step costs some time whatever its length, so few ranks and few blocks have long ones;
/// all slots of a region together take at most 64 MB.
constexpr std::uint32_t piece_for(std::uint32_t ranks, std::uint32_t blocks) {
  constexpr std::uint32_t kOfAllBlocks = 8U << 20, kMost = 512U << 10;
  const std::uint32_t of_all_ranks = kOfAllBlocks / blocks;
  return (of_all_ranks < kMost ? of_all_ranks : kMost) / ranks / 16 * 16;
}

struct Layout {
  std::uint32_t ranks = 1;
  std::uint32_t blocks = 8;         ///< at most kMaxBlocks; kernels have no more
  std::uint32_t piece = 32U << 10;  ///< bytes of a slot, a multiple of 16

  /// The flag that rank `from` raises in this region.
  DETCCL_HD std::uint64_t flag(Flag flag, std::uint32_t block, std::uint32_t from) const {
    return ((flag == Flag::ready ? 0 : kMaxBlocks) + block) * kFlagLine + from * sizeof(std::uint64_t);
  }
  /// Two counters of the region's own rank: steps done, and steps done in packets.
  DETCCL_HD std::uint64_t counters(std::uint32_t block) const {
    return 2 * kMaxBlocks * kFlagLine + block * 2 * sizeof(std::uint64_t);
  }
  /// A 32-bit word of the region's own rank: not 0 if an operation has failed.
  DETCCL_HD std::uint64_t failure() const { return counters(kMaxBlocks); }
  /// Where rank `from` puts its packets of step `step`.
  DETCCL_HD std::uint64_t packets(std::uint32_t block, std::uint64_t step, std::uint32_t from) const {
    const std::uint64_t index = (std::uint64_t{block} * 2 + (step & 1)) * ranks + from;
    return kControl + index * kPacketUnits * kPacketBytes;
  }
  /// Where it puts those of its results.
  DETCCL_HD std::uint64_t result_packets(std::uint32_t block, std::uint64_t step, std::uint32_t from) const {
    return packets(blocks, 0, 0) - kControl + packets(block, step, from);
  }
  /// Where rank `from` puts its raw values for the region's rank to fold in step `step`.
  DETCCL_HD std::uint64_t raw(std::uint32_t block, std::uint64_t step, std::uint32_t from) const {
    return result_packets(blocks, 0, 0) + slot(block, step, from);
  }
  /// Where the results of step `step` are put: one slot for each rank that folds.
  DETCCL_HD std::uint64_t results(std::uint32_t block, std::uint64_t step, std::uint32_t from) const {
    return raw(blocks, 0, 0) + slot(block, step, from);
  }
  DETCCL_HD std::uint64_t bytes() const { return results(blocks, 0, 0); }

 private:
  static constexpr std::uint64_t kFlagLine = kMaxRanks * sizeof(std::uint64_t);
  static constexpr std::uint64_t kControl = 16384;
  static_assert((2 * kMaxBlocks * kFlagLine) + (kMaxBlocks + 1) * 16 <= kControl);

  DETCCL_HD std::uint64_t slot(std::uint32_t block, std::uint64_t step, std::uint32_t from) const {
    return ((std::uint64_t{block} * kSlots + step % kSlots) * ranks + from) * piece;
  }
};

constexpr Layout layout_for(std::uint32_t ranks, std::uint32_t blocks) {
  return {ranks, blocks, piece_for(ranks, blocks)};
}

}  // namespace detccl::device::cuda::peer
