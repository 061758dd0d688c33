// SPDX-License-Identifier: Apache-2.0
// The kernel behind digest.h. A thread takes every so many words of the payload, several loads under way at a
// time. A block's sums are added up, and go to memory by two atomic additions: sums come out the same in any
// order. Then the block's thread 0 calls `then(blocks)`, the number of all blocks; where `then` has a
// begin(), the first block's thread 0 calls that before all else.
#pragma once

#include "fingerprint/cuda/digest.h"
#include "fingerprint/cuda/grid.h"
#include "fingerprint/cuda/load_word.cuh"

namespace detccl::fingerprint::cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kUnroll = 4;  ///< words per thread under way: 16 KB per block

/// A piece of a payload; with chunks, block (x, y) works on chunk y.
struct Piece {
  const std::byte* data;
  std::uint64_t bytes;
  std::uint64_t first_word;
  std::uint64_t chunk_bytes;
  Sums* table;
};

/// Adds up a block's sums; thread 0 has the result.
__device__ __forceinline__ Sums block_sum(Sums sums) {
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    sums.a += __shfl_down_sync(0xffffffff, sums.a, distance);
    sums.b += __shfl_down_sync(0xffffffff, sums.b, distance);
  }
  __shared__ std::uint64_t a[kThreads / 32], b[kThreads / 32];
  if (threadIdx.x % 32 == 0) a[threadIdx.x / 32] = sums.a, b[threadIdx.x / 32] = sums.b;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < kThreads / 32; ++warp)
      sums += {a[warp], b[warp]};
  }
  return sums;
}

__device__ __forceinline__ void add_atomically(std::uint64_t& to, std::uint64_t x) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(x));
}

/// Words 0 … words-1 of `data`, whose first one is the payload's `first_word`.
template <bool kAligned>
__device__ __forceinline__ Sums sum_words(const std::byte* data, std::uint64_t words,
                                          std::uint64_t first_word) {
  Sums sums;
  const std::uint64_t tile_words = std::uint64_t{gridDim.x} * (kThreads * kUnroll);
  std::uint64_t i = std::uint64_t{blockIdx.x} * (kThreads * kUnroll) + threadIdx.x;
  Key key = key_at(first_word + i);
  const Wide step_thread = step(kThreads), step_tile = step(tile_words - kThreads * kUnroll);
  for (; i + (kUnroll - 1) * kThreads < words; i += tile_words) {
    Word loaded[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::byte* const from = data + (i + u * kThreads) * 16;
      loaded[u] = kAligned ? load_aligned(from) : load_shifted(from);
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      sums += mix(loaded[u], key);
      key += step_thread;
    }
    key += step_tile;
  }
  // The last tile, which is not full for this thread.
#pragma unroll 1
  for (unsigned u = 0; u < kUnroll && i < words; ++u, i += kThreads) {
    const std::byte* const from = data + i * 16;
    sums += mix(kAligned ? load_aligned(from) : load_shifted(from), key);
    key += step_thread;
  }
  return sums;
}

/// The words that are not read whole: the last one if it is shorter than 16 bytes; where the payload is not
/// aligned, its first word and the last whole one, whose neighbouring bytes need not be there.
template <bool kAligned>
__device__ __forceinline__ Sums sum_ends(const std::byte* data, std::uint64_t bytes,
                                         std::uint64_t first_word) {
  Sums sums;
  const std::uint64_t whole = bytes / 16;
  const unsigned rest = static_cast<unsigned>(bytes % 16);
  if (rest != 0) sums += mix(load_bytes(data + whole * 16, rest), key_at(first_word + whole));
  if (!kAligned && whole > 0) sums += mix(load_bytes(data, 16), key_at(first_word));
  if (!kAligned && whole > 1)
    sums += mix(load_bytes(data + (whole - 1) * 16, 16), key_at(first_word + whole - 1));
  return sums;
}

// Without the number of blocks the compiler saves registers, and waits for every two loads.
template <bool kAligned, class Then>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    digest_kernel(const Piece piece, const Then then) {
  if constexpr (requires { then.begin(); }) {
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) then.begin();
  }
  const std::uint64_t start = blockIdx.y * piece.chunk_bytes;
  const std::uint64_t left = piece.bytes - start;
  const std::uint64_t bytes = left < piece.chunk_bytes ? left : piece.chunk_bytes;
  const std::byte* const data = piece.data + start;
  const std::uint64_t first_word = piece.first_word + start / 16;
  const std::uint64_t whole = bytes / 16;
  Sums sums = kAligned    ? sum_words<true>(data, whole, first_word)
              : whole > 2 ? sum_words<false>(data + 16, whole - 2, first_word + 1)
                          : Sums{};
  if (blockIdx.x == 0 && threadIdx.x == 0) sums += sum_ends<kAligned>(data, bytes, first_word);
  sums = block_sum(sums);
  if (threadIdx.x == 0) {
    add_atomically(piece.table[blockIdx.y].a, sums.a);
    add_atomically(piece.table[blockIdx.y].b, sums.b);
    then(gridDim.x * gridDim.y);
  }
}

template <class Then>
cudaError_t launch(Piece piece, unsigned chunks, LaunchLimits limits, Then then, cudaStream_t stream) {
  const std::uint64_t tiles = (piece.chunk_bytes / 16 + kThreads * kUnroll - 1) / (kThreads * kUnroll);
  unsigned blocks = 0;
  const cudaError_t error = blocks_for(tiles, chunks, limits, blocks);
  if (error != cudaSuccess) return error;
  const bool aligned = reinterpret_cast<std::uintptr_t>(piece.data) % 16 == 0;
  void* parameters[] = {&piece, &then};
  return cudaLaunchKernel(aligned ? digest_kernel<true, Then> : digest_kernel<false, Then>,
                          dim3(blocks, chunks), dim3(kThreads), parameters, 0, stream);
}

template <class Then>
cudaError_t load() {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, digest_kernel<true, Then>);
  return error == cudaSuccess ? cudaFuncGetAttributes(&attributes, digest_kernel<false, Then>) : error;
}

}  // namespace detccl::fingerprint::cuda
