// SPDX-License-Identifier: Apache-2.0
// Copies by a team of threads, between any addresses.
#pragma once

#include "device/cuda/fragment.cuh"
#include "device/cuda/peer/roles.cuh"

namespace detccl::device::cuda::peer {

inline constexpr unsigned kCopyBytes = 16;

__device__ __forceinline__ bool is_aligned(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p) % kCopyBytes == 0;
}

/// Several vectors are under way before the first is stored.
template <bool kShifted, class Team>
__device__ void copy_vectors(const Team& team, std::byte* to, const std::byte* from, std::uint32_t vectors) {
  constexpr unsigned kUnroll = kShifted ? 4 : 8;
  for (unsigned tile = team.thread(); tile < vectors; tile += team.threads * kUnroll) {
    Fragment<kCopyBytes> f[kUnroll] = {};
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const unsigned v = tile + u * team.threads;
      if (v >= vectors) continue;
      if (kShifted)
        read_shifted(f[u], from + v * kCopyBytes);
      else
        read(f[u], from + v * kCopyBytes);
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const unsigned v = tile + u * team.threads;
      if (v < vectors) write(f[u], to + v * kCopyBytes);
    }
  }
}

/// Vectors begin where the destination is aligned. No byte is read outside of the source's 16-byte pieces
/// that lie wholly in it, except one by one.
template <class Team>
__device__ void copy_by_threads(const Team& team, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  std::uint32_t head = static_cast<std::uint32_t>(
      (kCopyBytes - reinterpret_cast<std::uintptr_t>(to) % kCopyBytes) % kCopyBytes);
  const bool shifted = !is_aligned(from + head);
  if (shifted) head += kCopyBytes;  // the first and the last vector would be read from beyond the array
  const std::uint32_t at_the_ends = head + (shifted ? kCopyBytes : 0);
  const std::uint32_t vectors = bytes > at_the_ends ? (bytes - at_the_ends) / kCopyBytes : 0;
  if (vectors == 0) head = bytes;
  if (shifted)
    copy_vectors<true>(team, to + head, from + head, vectors);
  else
    copy_vectors<false>(team, to + head, from + head, vectors);
  const std::uint32_t in_vectors = vectors * kCopyBytes;
  for (std::uint32_t i = team.thread(); i < bytes - in_vectors; i += team.threads) {
    const std::uint32_t at = i < head ? i : i + in_vectors;
    to[at] = from[at];
  }
}

/// Of a move that has nothing to do with the digest of a payload.
inline constexpr std::uint64_t kNoPayload = ~std::uint64_t{0};

struct Move {
  std::byte* to;
  const std::byte* from;
  std::uint32_t bytes;
  std::uint64_t payload;  ///< where in the payload, of which a digest is taken, it begins; or kNoPayload
};

/// Whole vectors that can be moved as they are: none if an address is not aligned.
__device__ __forceinline__ std::uint32_t vectors_of(const Move& move) {
  return is_aligned(move.from) && is_aligned(move.to) ? move.bytes / kCopyBytes : 0;
}

/// Some vectors, and where they are: so many `apart`, from the `first` on, as far as they are below `end`.
template <std::uint32_t kCount>
struct Vectors {
  Fragment<kCopyBytes> f[kCount];
  std::uint32_t first, apart, end;
};

/// All `count` moves, at most kMoves, at the same time: each thread is at up to four. seen(move, Vectors):
/// what has been moved as it is, vectors counted in the move.
template <std::uint32_t kMoves, class Team, class Seen>
__device__ void copy_together(const Team& team, std::uint32_t count, const Move* moves, const Seen& seen) {
  constexpr std::uint32_t kEach = kMoves < 4 ? kMoves : 4, kUnroll = 8 / kEach;
  const std::uint32_t threads = team.threads / (kMoves / kEach);
  const std::uint32_t first = team.thread() / threads * kEach, thread = team.thread() % threads;
  std::uint32_t vectors[kEach], longest = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) {
    vectors[k] = first + k < count ? vectors_of(moves[first + k]) : 0;
    longest = max(longest, vectors[k]);
  }
#pragma unroll 1
  for (std::uint32_t tile = thread; tile < longest; tile += threads * kUnroll) {
    // Without a value a register that is loaded on a condition would be taken from the start to the end.
    Fragment<kCopyBytes> f[kEach][kUnroll] = {};
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * threads;
        if (v < vectors[k]) read(f[k][u], moves[first + k].from + v * kCopyBytes);
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * threads;
        if (v < vectors[k]) write(f[k][u], moves[first + k].to + v * kCopyBytes);
      }
      if (tile < vectors[k]) {
        Vectors<kUnroll> all = {{}, tile, threads, vectors[k]};
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u)
          all.f[u] = f[k][u];
        seen(moves[first + k], all);
      }
    }
  }
#pragma unroll 1
  for (std::uint32_t k = 0; k < count; ++k) {
    const Move move = moves[k];
    const std::uint32_t copied = vectors_of(move) * kCopyBytes;
    if (copied < move.bytes) copy_by_threads(team, move.to + copied, move.from + copied, move.bytes - copied);
  }
}

}  // namespace detccl::device::cuda::peer
