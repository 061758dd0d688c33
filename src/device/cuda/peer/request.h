// SPDX-License-Identifier: Apache-2.0
// What peer.cc asks of the kernels. Internal to the room; peer.h is its interface.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda/launch.h"
#include "device/cuda/peer/partition.h"
#include "device/cuda/peer/peer.h"

namespace detccl::device::cuda::peer {

inline constexpr std::uint32_t kEveryone = 0xffffffff;

inline constexpr unsigned kPacketThreads = 512;  ///< most of a block

/// Tiles of shared memory that bulk copies go through, of the team that copies and of the one that folds.
/// They leave room for no second block on an SM.
inline constexpr std::uint32_t kCopyTile = 8U << 10, kCopyTiles = 8;
inline constexpr std::uint32_t kFoldTile = 24U << 10, kFoldTiles = 6;  ///< of all operands
inline constexpr std::uint32_t kSharedBytes = kCopyTile * kCopyTiles + kFoldTile * kFoldTiles;

/// A kernel's part of an operation, whatever the elements are.
struct Part {
  Layout layout;
  Partition partition;
  std::byte* regions[kMaxRanks];
  HostWords* words;
  std::uint64_t timeout;
  const std::byte* send;
  std::byte* receive;           ///< null: nothing is received
  std::uint64_t received_from;  ///< where in the message the byte at `receive` is
  std::uint32_t rank;
  std::uint32_t wanted_by;  ///< two_shot: the rank that all results go to; kEveryone; own rank: nobody else's
  bool two_shot;            ///< the owner of a shard folds it, and sends the results
  bool scattered;           ///< every rank wants its own shard only

  /// Whether every rank folds a shard of its own.
  DETCCL_HD bool in_shards() const { return two_shot || scattered; }
};

struct Request {
  Part part;
  const Arithmetic& arithmetic;
  Finish finish;
  cudaStream_t stream;
  const recorder::Recording* recording;  ///< null: none
  std::uint32_t shared_bytes;  ///< of a block's dynamic shared memory in one-shot and two-shot kernels
};

/// Enqueue the kernels for elements of class `Element`. Instantiated in elements_*.cu.
template <class Element>
cudaError_t launch_steps(const Request& request);
template <class Element>
cudaError_t launch_packets(const Request& request);
/// Loads them, with so much dynamic shared memory allowed.
template <class Element>
cudaError_t load(std::uint32_t shared_bytes);

}  // namespace detccl::device::cuda::peer
