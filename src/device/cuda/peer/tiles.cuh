// SPDX-License-Identifier: Apache-2.0
// Copies of long aligned pieces by bulk copies through a ring of tiles in shared memory: loads are always
// under way while earlier tiles are stored.
#pragma once

#include "device/cuda/peer/bulk.cuh"
#include "device/cuda/peer/request.h"

namespace detccl::device::cuda::peer {

/// Below these many bytes, which threads have under way at once, they do it themselves.
inline constexpr std::uint32_t kLongCopy = 24U << 10;

/// Counts the tiles that have passed, which says where in the ring and in which phase of its barriers one is.
struct Ring {
  std::byte* tiles;
  std::uint64_t* loaded;
  std::uint32_t passed;
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// By one thread, which must wait_stored() before it tells anybody.
__device__ inline void copy_in_tiles(Ring& ring, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  constexpr std::uint32_t kAhead = kCopyTiles / 2;
  const std::uint32_t tiles = (bytes + kCopyTile - 1) / kCopyTile;
  const auto size = [&](std::uint32_t t) { return min(kCopyTile, bytes - t * kCopyTile); };
  for (std::uint32_t t = 0; t < tiles + kAhead; ++t) {
    if (t < tiles) {
      const std::uint32_t at = (ring.passed + t) % kCopyTiles;
      bulk::wait_read<kCopyTiles - 1 - kAhead>();
      bulk::expect(&ring.loaded[at], size(t));
      bulk::load(ring.tiles + at * kCopyTile, from + t * kCopyTile, size(t), &ring.loaded[at]);
    }
    if (t >= kAhead) {
      const std::uint32_t done = t - kAhead, number = ring.passed + done, at = number % kCopyTiles;
      bulk::wait(&ring.loaded[at], number / kCopyTiles);
      bulk::store(to + done * kCopyTile, ring.tiles + at * kCopyTile, size(done));
      bulk::commit();
    }
  }
  ring.passed += tiles;
}

#endif

}  // namespace detccl::device::cuda::peer
