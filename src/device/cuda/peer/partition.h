// SPDX-License-Identifier: Apache-2.0
// Which bytes of a message a block handles in which of its steps: the same on every rank, and on host and
// GPU.
#pragma once

#include <cstdint>

#include "contract/host_device.h"
#include "device/cuda/peer/layout.h"

namespace detccl::device::cuda::peer {

/// How raw values come to the fold, and results to where they are wanted.
enum class Mode : std::uint8_t {
  packets,        ///< everyone sends everything with flags in it, everyone folds everything
  shard_packets,  ///< as two_shot, with flags in values and results
  one_shot,       ///< everyone sends everyone its values, everyone folds all of them
  two_shot,       ///< everyone sends the owner of a shard its values; the owner folds and sends the result
};

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// A message in shards (two_shot and shard_packets: shard d is folded by rank d; else the whole message is
/// the only one), and those in pieces of `piece` bytes. Piece p of every shard is block p mod blocks'
/// business, in its step p / blocks.
struct Partition {
  std::uint64_t total = 0;  ///< bytes of the message
  std::uint64_t shard = 0;  ///< bytes from a shard's start to the next one's; the last ones may be shorter
  std::uint32_t piece = 16;
  std::uint32_t blocks = 1;

  /// Bytes of rank `owner`'s shard.
  DETCCL_HD std::uint64_t shard_of(std::uint32_t owner) const {
    const std::uint64_t begin = owner * shard;
    const std::uint64_t left = total > begin ? total - begin : 0;
    return left < shard ? left : shard;
  }
  DETCCL_HD std::uint64_t pieces() const { return (shard + piece - 1) / piece; }
  /// Steps of a block: every block of the kernel has at least one.
  DETCCL_HD std::uint32_t steps(std::uint32_t block) const {
    return static_cast<std::uint32_t>((pieces() - block + blocks - 1) / blocks);
  }
  /// In the message; empty where the shard has no such piece.
  DETCCL_HD Range range(std::uint32_t owner, std::uint32_t block, std::uint32_t step) const {
    const std::uint64_t begin = (std::uint64_t{step} * blocks + block) * piece;
    const std::uint64_t size = shard_of(owner);
    const std::uint64_t rest = size > begin ? size - begin : 0;
    return {owner * shard + begin, rest < piece ? rest : piece};
  }
};

/// Bytes from a shard's start to the next one's. `equal`: the shards are the caller's (total / ranks bytes
/// each), not to be rounded up. `total` > 0.
inline std::uint64_t shard_bytes(std::uint64_t total, bool equal, std::uint32_t ranks) {
  constexpr std::uint64_t kUnit = 16;
  const std::uint64_t each = (total + ranks - 1) / ranks;
  return equal ? each : (each + kUnit - 1) / kUnit * kUnit;
}

/// Of a message in one_shot or two_shot; the rest as shard_bytes().
inline Partition partition(Mode mode, std::uint64_t total, bool equal, const Layout& layout) {
  constexpr std::uint64_t kUnit = 16;
  constexpr std::uint64_t kLeastPiece = 2048;
  Partition p;
  p.total = total;
  p.shard = mode == Mode::two_shot ? shard_bytes(total, equal, layout.ranks) : total;
  // Long shards go in several steps, so that their parts overlap; each of them costs some time, so not in
  // many.
  constexpr std::uint64_t kLong = 128U << 10, kMostSteps = 4;
  std::uint64_t piece = (p.shard + layout.blocks - 1) / layout.blocks;
  if (piece >= 2 * kLong) piece /= piece / kLong < kMostSteps ? piece / kLong : kMostSteps;
  piece = (piece + kUnit - 1) / kUnit * kUnit;
  if (piece < kLeastPiece) piece = kLeastPiece;
  if (piece > layout.piece) piece = layout.piece;
  p.piece = static_cast<std::uint32_t>(piece);
  const std::uint64_t pieces = p.pieces();
  p.blocks = pieces < layout.blocks ? static_cast<std::uint32_t>(pieces) : layout.blocks;
  return p;
}

}  // namespace detccl::device::cuda::peer
