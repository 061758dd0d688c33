// SPDX-License-Identifier: Apache-2.0
// A block's threads are of two kinds, which go through the steps each on their own: those that copy values
// to peers and results from the region, and those that fold. Where there is one step, they do all together.
#pragma once

#include <cstdint>

namespace detccl::device::cuda::peer {

/// Some consecutive warps of a block; their hardware barrier is number kBarrier, and 0 is __syncthreads()'s.
/// All of it are constants: a barrier whose number is in a register takes all sixteen for itself.
template <std::uint32_t kBarrier, std::uint32_t kFirst, std::uint32_t kThreadsOfTeam>
struct Team {
  static constexpr std::uint32_t threads = kThreadsOfTeam, kMaxWarps = threads / 32;
  __device__ static constexpr std::uint32_t warps() { return kMaxWarps; }

  __device__ static std::uint32_t thread() { return threadIdx.x - kFirst; }
  __device__ static bool leads() { return threadIdx.x == kFirst; }
  __device__ static void sync() {
    asm volatile("barrier.cta.sync %0, %1;" ::"n"(kBarrier), "n"(threads) : "memory");
  }
  /// sync(); whether `x` holds for any of its threads.
  __device__ static bool any(bool x) {
    int result;
    asm volatile(
        "{\n"
        ".reg .pred mine, some;\n"
        "setp.ne.s32 mine, %1, 0;\n"
        "barrier.cta.red.or.pred some, %2, %3, mine;\n"
        "selp.s32 %0, 1, 0, some;\n"
        "}"
        : "=r"(result)
        : "r"(static_cast<int>(x)), "n"(kBarrier), "n"(threads)
        : "memory");
    return result != 0;
  }
};

inline constexpr std::uint32_t kWarp = 32, kThreads = 512;
/// Of the copying team, those that take digests while the first warp has bulk copies made.
inline constexpr std::uint32_t kDigesters = 128;

/// `kRecorded`: of a kernel that records itself.
template <bool kRecorded>
struct Roles {
  static constexpr std::uint32_t kCopyThreads = kRecorded ? kWarp + kDigesters : 96;
  static constexpr std::uint32_t kFoldThreads = kThreads - kCopyThreads;
  /// The folding team's first warp moves tiles for the others (fold_ring.cuh).
  static constexpr std::uint32_t kFolders = kFoldThreads - kWarp;

  using FoldingTeam = Team<1, 0, kFoldThreads>;
  using CopyingTeam = Team<2, kFoldThreads, kCopyThreads>;
};
using WholeBlock = Team<0, 0, kThreads>;

}  // namespace detccl::device::cuda::peer
