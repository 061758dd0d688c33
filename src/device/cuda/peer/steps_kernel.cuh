// SPDX-License-Identifier: Apache-2.0
// One-shot and two-shot reductions.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/steps.h"
#include "device/cuda/peer/tiles.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

template <class Shape>
struct StepsArguments {
  Part part;
  Arguments<Shape::kCapacity> fold;  ///< without addresses
};

/// What a block's threads share.
template <class Shape>
struct Shared {
  Arguments<Shape::kCapacity> fold;
  std::byte* results[kMaxRanks];  ///< where the fold's results go
  std::uint64_t copy_barriers[kCopyTiles], fold_barriers[kFoldTiles];
  std::uint64_t before;
  bool failed;
};

/// A block of one rank, as one of its teams has it (steps.h).
template <class Shape>
class StepsBlock {
 public:
  using Vectors = Folder<Shape, Shape::kVector>;
  using Single = Folder<Shape, 1>;
  using Bits = typename Shape::Bits;

  __device__ StepsBlock(const StepsArguments<Shape>& a, Shared<Shape>& shared, const Team& team,
                        const Ring& ring)
      : p_(a.part), arguments_(a.fold), shared_(shared), team_(team), ring_(ring) {}

  __device__ bool wait(Flag flag, std::uint64_t step) {
    const std::uint32_t from = team_.thread();
    return !team_.any(from < p_.layout.ranks && !await_flag(p_, flag, from, step));
  }

  __device__ void raise(Flag flag, std::uint64_t step) {
#if __CUDA_ARCH__ >= 900
    if (team_.leads()) bulk::wait_stored();
#endif
    team_.sync();
    const std::uint32_t to = team_.thread();
    if (to < p_.layout.ranks) {
      store_release(
          reinterpret_cast<std::uint64_t*>(p_.regions[to] + p_.layout.flag(flag, blockIdx.x, p_.rank)), step);
    }
  }

  __device__ void offer(std::uint32_t i, std::uint64_t step) {
    // Every rank begins with another peer, so that no peer gets everything at the same time.
    for (std::uint32_t k = 1; k <= p_.layout.ranks; ++k) {
      const std::uint32_t owner = (p_.rank + k) % p_.layout.ranks;
      if (!p_.two_shot && p_.wanted_by != kEveryone && p_.wanted_by != owner) continue;
      const Range range = folded_by(owner, i);
      const std::byte* const from = p_.send + range.begin;
      if (owner == p_.rank && is_aligned(from)) continue;
      copy(p_.regions[owner] + p_.layout.raw(blockIdx.x, step, p_.rank), from, range);
    }
  }

  __device__ void fold(std::uint32_t i, std::uint64_t step) {
    if (!folds()) return;
    const Range range = folded_by(p_.rank, i);
    const std::uint32_t thread = team_.thread();
    if (thread < p_.layout.ranks) {
      shared_.fold.operands[thread] = operand(thread, range, step);
      shared_.results[thread] = result(thread, range, step);
    }
    team_.sync();
    const auto bytes = static_cast<std::uint32_t>(range.bytes);
    std::uint32_t folded = 0;
#if __CUDA_ARCH__ >= 900
    if (bytes >= kLongFold) {
      folded = bytes / kCopyBytes * kCopyBytes;
      if (team_.leads()) bulk::fence_global();
      fold_in_tiles<Vectors, Shape>(team_, ring_, arguments_, shared_.fold.operands, shared_.results,
                                    p_.layout.ranks, folded);
    }
#endif
    fold_by_threads(folded, bytes);
  }

  __device__ bool collects(std::uint32_t i) const {
    if (p_.receive == nullptr) return false;
    return takes_others() || !is_aligned(output(folded_by(p_.rank, i)));
  }

  __device__ void collect(std::uint32_t i, std::uint64_t step) {
    for (std::uint32_t k = 0; k < p_.layout.ranks; ++k) {
      const std::uint32_t owner = (p_.rank + k) % p_.layout.ranks;
      if (k != 0 && !takes_others()) break;
      const Range range = folded_by(owner, i);
      std::byte* const to = output(range);
      if (k == 0 && is_aligned(to)) continue;
      copy(to, results_of(owner, step), range);
    }
  }

 private:
  /// What `owner` folds in step i of the operation.
  __device__ Range folded_by(std::uint32_t owner, std::uint32_t i) const {
    return p_.partition.range(p_.two_shot ? owner : 0, blockIdx.x, i);
  }
  __device__ std::byte* results_of(std::uint32_t owner, std::uint64_t step) const {
    return p_.regions[p_.rank] + p_.layout.results(blockIdx.x, step, owner);
  }
  __device__ std::byte* output(const Range& range) const {
    return p_.receive + (range.begin - p_.received_from);
  }
  /// Whether some of this rank's results are folded by others.
  __device__ bool takes_others() const {
    return p_.two_shot && !p_.scattered;
  }
  /// Whether this rank has anything to fold: in one shot those that receive nothing have not.
  __device__ bool folds() const {
    return p_.two_shot || p_.receive != nullptr;
  }

  /// Where rank `from`'s values are, at an aligned address.
  __device__ const std::byte* operand(std::uint32_t from, const Range& range, std::uint64_t step) const {
    const std::byte* const mine = p_.send + range.begin;
    if (from == p_.rank && is_aligned(mine)) return mine;
    return p_.regions[p_.rank] + p_.layout.raw(blockIdx.x, step, from);
  }

  /// Where rank `to` gets the results, at an aligned address; null: nowhere.
  __device__ std::byte* result(std::uint32_t to, const Range& range, std::uint64_t step) const {
    if (to == p_.rank) {
      if (p_.receive == nullptr) return nullptr;
      std::byte* const place = output(range);
      return is_aligned(place) ? place : results_of(p_.rank, step);
    }
    if (!takes_others() || (p_.wanted_by != kEveryone && p_.wanted_by != to)) return nullptr;
    return p_.regions[to] + p_.layout.results(blockIdx.x, step, p_.rank);
  }

  __device__ void copy(std::byte* to, const std::byte* from, const Range& range) {
    const auto bytes = static_cast<std::uint32_t>(range.bytes);
    std::uint32_t copied = 0;
#if __CUDA_ARCH__ >= 900
    if (bytes >= kLongCopy && is_aligned(from) && is_aligned(to)) {
      copied = bytes / kCopyBytes * kCopyBytes;
      if (team_.leads()) {
        bulk::fence_global();
        copy_in_tiles(ring_, to, from, copied);
      }
    }
#endif
    copy_by_threads(team_, to + copied, from + copied, bytes - copied);
  }

  /// Of the step's bytes those from `begin` on, a multiple of 16.
  __device__ void fold_by_threads(std::uint32_t begin, std::uint32_t bytes) const {
    constexpr std::uint32_t kUnroll = 8 / Shape::kGroup, kVector = Shape::kVector;
    const Vectors vectors(shared_.fold);
    const std::uint32_t count = bytes / sizeof(Bits), whole = count / kVector;
    for (std::uint32_t tile = begin / sizeof(Bits) / kVector + team_.thread(); tile < whole;
         tile += team_.threads * kUnroll) {
      typename Vectors::Loaded loaded[kUnroll];
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * team_.threads;
        if (v < whole) vectors.load(loaded[u], std::uint64_t{v} * kVector);
      }
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * team_.threads;
        if (v < whole)
          spread(vectors.result(loaded[u]), v * kVector * static_cast<std::uint32_t>(sizeof(Bits)));
      }
    }
    const std::uint32_t element = whole * kVector + team_.thread();
    if (element < count) {
      const Single single(shared_.fold);
      typename Single::Loaded loaded;
      single.load(loaded, element);
      spread(single.result(loaded), element * static_cast<std::uint32_t>(sizeof(Bits)));
    }
  }

  template <int kBytes>
  __device__ void spread(const Fragment<kBytes>& f, std::uint32_t at) const {
    for (std::uint32_t k = 0; k < p_.layout.ranks; ++k) {
      std::byte* const to = shared_.results[k];
      if (to != nullptr) write(f, to + at);
    }
  }

  const Part& p_;
  const Arguments<Shape::kCapacity>& arguments_;
  Shared<Shape>& shared_;
  const Team team_;
  Ring ring_;
};

/// Has kSharedBytes of dynamic shared memory where the GPU has bulk copies.
template <class Shape>
__global__ void __launch_bounds__(kThreads) steps_kernel(const __grid_constant__ StepsArguments<Shape> a) {
  extern __shared__ __align__(128) std::byte tiles[];
  __shared__ Shared<Shape> shared;
  std::byte* const own = a.part.regions[a.part.rank];
  auto* const counter = reinterpret_cast<std::uint64_t*>(own + a.part.layout.counters(blockIdx.x));
  std::byte* const fold_tiles = tiles + kCopyTile * kCopyTiles;
  if (threadIdx.x == 0) {
    shared.fold = a.fold;
    shared.before = *counter;
    shared.failed = failed_before(a.part);
#if __CUDA_ARCH__ >= 900
    for (std::uint64_t& barrier : shared.copy_barriers)
      bulk::init(&barrier);
    for (std::uint64_t& barrier : shared.fold_barriers)
      bulk::init(&barrier);
    bulk::fence_shared();
#endif
  }
  __syncthreads();
  if (shared.failed) return;
  const std::uint64_t before = shared.before;
  const std::uint32_t steps = a.part.partition.steps(blockIdx.x);
  bool complete = false;
  if (threadIdx.x < kFoldThreads) {
    StepsBlock<Shape> block(a, shared, folding_team(), {fold_tiles, shared.fold_barriers, 0});
    complete = run_folds(block, before, steps);
  } else {
    StepsBlock<Shape> block(a, shared, copying_team(), {tiles, shared.copy_barriers, 0});
    complete = run_copies(block, before, steps);
#if __CUDA_ARCH__ >= 900
    bulk::wait_stored();
#endif
  }
  if (__syncthreads_and(static_cast<int>(complete)) != 0 && threadIdx.x == 0) *counter = before + steps;
}

}  // namespace detccl::device::cuda::peer
