// SPDX-License-Identifier: Apache-2.0
// Copies and folds of long aligned pieces by bulk copies through a ring of tiles in shared memory: loads are
// always under way while earlier tiles are stored. A team's leading thread moves, all its threads fold.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/bulk.cuh"
#include "device/cuda/peer/request.h"
#include "device/cuda/peer/roles.cuh"

namespace detccl::device::cuda::peer {

/// Below these many bytes, which threads have under way at once, they do it themselves.
inline constexpr std::uint32_t kLongCopy = 24U << 10, kLongFold = 24U << 10;

/// Counts the tiles that have passed, which says where in the ring and in which phase of its barrier one is.
struct Ring {
  std::byte* tiles;
  std::uint64_t* barriers;
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
      bulk::expect(&ring.barriers[at], size(t));
      bulk::load(ring.tiles + at * kCopyTile, from + t * kCopyTile, size(t), &ring.barriers[at]);
    }
    if (t >= kAhead) {
      const std::uint32_t done = t - kAhead, number = ring.passed + done, at = number % kCopyTiles;
      bulk::wait(&ring.barriers[at], number / kCopyTiles);
      bulk::store(to + done * kCopyTile, ring.tiles + at * kCopyTile, size(done));
      bulk::commit();
    }
  }
  ring.passed += tiles;
}

/// The fold of `bytes` bytes of each operand, to every result that is not null. `fold`: how, without
/// addresses. By a whole team; its leading thread must wait_stored() before anybody is told.
template <class Vectors, class Shape>
__device__ void fold_in_tiles(const Team& team, Ring& ring, const Arguments<Shape::kCapacity>& fold,
                              const std::byte* const* operands, std::byte* const* results,
                              std::uint32_t ranks, std::uint32_t bytes) {
  constexpr std::uint32_t kAhead = kFoldTiles - 1, kPart = kFoldTile / Shape::kGroup;
  constexpr std::uint32_t kUnroll = Shape::kGroup == 2 ? 2 : 1;
  constexpr auto kVectorBytes = static_cast<std::uint32_t>(Shape::kVector * sizeof(typename Shape::Bits));
  // Each operand's parts of all tiles lie together.
  Arguments<Shape::kCapacity> in_tiles = fold;
#pragma unroll
  for (std::uint32_t j = 0; j < Shape::kGroup; ++j)
    in_tiles.operands[j] = ring.tiles + j * (kPart * kFoldTiles);
  const Vectors vectors(in_tiles);
  const std::uint32_t tiles = (bytes + kPart - 1) / kPart;
  const auto size = [&](std::uint32_t t) { return min(kPart, bytes - t * kPart); };
  const auto part = [&](std::uint32_t operand, std::uint32_t at) {
    return ring.tiles + (operand * kFoldTiles + at) * kPart;
  };
  const auto load = [&](std::uint32_t t) {
    const std::uint32_t at = (ring.passed + t) % kFoldTiles;
    bulk::expect(&ring.barriers[at], ranks * size(t));
    for (std::uint32_t j = 0; j < ranks; ++j)
      bulk::load(part(j, at), operands[j] + t * kPart, size(t), &ring.barriers[at]);
  };
  if (team.leads()) {
    for (std::uint32_t t = 0; t < tiles && t < kAhead; ++t)
      load(t);
  }
  for (std::uint32_t t = 0; t < tiles; ++t) {
    const std::uint32_t number = ring.passed + t, at = number % kFoldTiles;
    bulk::wait(&ring.barriers[at], number / kFoldTiles);
    const std::uint32_t count = size(t) / kVectorBytes;
    for (std::uint32_t first = team.thread(); first < count; first += team.threads * kUnroll) {
      typename Vectors::Loaded loaded[kUnroll];
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = first + u * team.threads;
        if (v < count)
          vectors.load(loaded[u], (at * kPart + v * kVectorBytes) / sizeof(typename Shape::Bits));
      }
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = first + u * team.threads;
        // Nobody else reads this vector, so the result has its place.
        if (v < count) write(vectors.result(loaded[u]), part(0, at) + v * kVectorBytes);
      }
    }
    bulk::fence_shared();
    team.sync();
    if (!team.leads()) continue;
    for (std::uint32_t k = 0; k < ranks; ++k) {
      if (results[k] != nullptr) bulk::store(results[k] + t * kPart, part(0, at), size(t));
    }
    bulk::commit();
    if (t + kAhead < tiles) {
      bulk::wait_read<kFoldTiles - kAhead>();
      load(t + kAhead);
    }
  }
  ring.passed += tiles;
}

#endif

}  // namespace detccl::device::cuda::peer
