// SPDX-License-Identifier: Apache-2.0
// Copies of long aligned pieces by bulk copies through a ring of tiles in shared memory: loads are always
// under way while earlier tiles are stored.
#pragma once

#include "device/cuda/peer/bulk.cuh"
#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/request.h"
#include "device/cuda/peer/roles.cuh"
#include "device/cuda/word.cuh"

namespace detccl::device::cuda::peer {

/// Below these many bytes, which threads have under way at once, they do it themselves.
inline constexpr std::uint32_t kLongCopy = 24U << 10;

/// Counts the tiles that have passed, which says where in the ring and in which phase of its barriers one is.
struct Ring {
  std::byte* tiles;
  std::uint64_t* loaded;
  std::uint64_t* digested;  ///< null: nobody takes digests of what passes
  std::uint32_t passed;
};

__device__ constexpr std::uint32_t tiles_of(std::uint32_t bytes) {
  return (bytes + kCopyTile - 1) / kCopyTile;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

/// By one thread, which must wait_stored() before it tells anybody. Where digests are taken, all of those
/// threads digest_tiles() of each copy.
__device__ inline void copy_in_tiles(Ring& ring, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  constexpr std::uint32_t kAhead = kCopyTiles / 2;
  const std::uint32_t tiles = tiles_of(bytes);
  const auto size = [&](std::uint32_t t) { return min(kCopyTile, bytes - t * kCopyTile); };
  for (std::uint32_t t = 0; t < tiles + kAhead; ++t) {
    if (t < tiles) {
      const std::uint32_t number = ring.passed + t, at = number % kCopyTiles;
      bulk::wait_read<kCopyTiles - 1 - kAhead>();
      if (ring.digested != nullptr && number >= kCopyTiles)
        bulk::wait(&ring.digested[at], number / kCopyTiles - 1);
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

/// By kDigesters threads, this one being number `thread`: what the tiles of a copy of `bytes` bytes add, the
/// first of which is the payload's word `first`. A warp takes every so many tiles, those of its own places.
__device__ inline __noinline__ fingerprint::Sums digest_tiles(const Ring ring, std::uint64_t first,
                                                              std::uint32_t bytes, std::uint32_t thread) {
  constexpr std::uint32_t kWarps = kDigesters / kWarp, kWords = kCopyTile / kCopyBytes, kUnroll = 8;
  static_assert(kCopyTiles % kWarps == 0 && kWords % (kWarp * kUnroll) == 0);
  const std::uint32_t warp = thread / kWarp, lane = thread % kWarp;
  const fingerprint::Wide step = fingerprint::step(kWarp);
  fingerprint::Sums sums;
  for (std::uint32_t t = (warp + kWarps - ring.passed % kWarps) % kWarps; t < tiles_of(bytes); t += kWarps) {
    const std::uint32_t number = ring.passed + t, at = number % kCopyTiles;
    const std::uint32_t words = min(kCopyTile, bytes - t * kCopyTile) / kCopyBytes;
    const std::byte* const tile = ring.tiles + at * kCopyTile;
    fingerprint::Key key = fingerprint::key_at(first + t * kWords + lane);
    bulk::wait(&ring.loaded[at], number / kCopyTiles);
#pragma unroll 1
    for (std::uint32_t begin = lane; begin < words; begin += kWarp * kUnroll) {
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = begin + u * kWarp;
        Fragment<kCopyBytes> f;  // beyond the copy's end: of an earlier one
        read(f, tile + v * kCopyBytes);
        const fingerprint::Sums its = fingerprint::mix(word_of(f), key);
        if (v < words) sums += its;
        key += step;
      }
    }
    bulk::arrive(&ring.digested[at]);
  }
  return sums;
}

#endif

}  // namespace detccl::device::cuda::peer
