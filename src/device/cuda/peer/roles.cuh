// SPDX-License-Identifier: Apache-2.0
// A block's threads are of two kinds, which go through the steps each on their own: those that copy values
// to peers and results from the region, and those that fold. Where there is one step, they do all together.
#pragma once

#include <cstdint>

namespace detccl::device::cuda::peer {

/// Some consecutive warps of a block.
struct Team {
  std::uint32_t barrier;  ///< its hardware barrier; 0 is __syncthreads()'s
  std::uint32_t first, threads;

  __device__ std::uint32_t thread() const { return threadIdx.x - first; }
  __device__ bool leads() const { return threadIdx.x == first; }
  __device__ void sync() const {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
  }
  /// sync(); whether `x` holds for any of its threads.
  __device__ bool any(bool x) const {
    int result;
    asm volatile(
        "{\n"
        ".reg .pred mine, some;\n"
        "setp.ne.s32 mine, %1, 0;\n"
        "barrier.cta.red.or.pred some, %2, %3, mine;\n"
        "selp.s32 %0, 1, 0, some;\n"
        "}"
        : "=r"(result)
        : "r"(static_cast<int>(x)), "r"(barrier), "r"(threads)
        : "memory");
    return result != 0;
  }
};

/// The folding team's first warp moves tiles for the others (tiles.cuh).
inline constexpr std::uint32_t kWarp = 32, kFolders = 320;
inline constexpr std::uint32_t kFoldThreads = kWarp + kFolders, kCopyThreads = 160;
/// Of the copying team, those that take digests while the first warp has bulk copies made.
inline constexpr std::uint32_t kDigesters = kCopyThreads - kWarp;
inline constexpr std::uint32_t kThreads = kFoldThreads + kCopyThreads;

__device__ inline Team folding_team() {
  return {1, 0, kFoldThreads};
}
__device__ inline Team copying_team() {
  return {2, kFoldThreads, kCopyThreads};
}
__device__ inline Team whole_block() {
  return {0, 0, kThreads};
}

}  // namespace detccl::device::cuda::peer
