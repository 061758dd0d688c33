// SPDX-License-Identifier: Apache-2.0
// One-shot and two-shot reductions.
#pragma once

#include <type_traits>

#include "device/cuda/peer/aligned_fold.cuh"
#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/fold_ring.cuh"
#include "device/cuda/peer/places.cuh"
#include "device/cuda/peer/steps.h"
#include "device/cuda/peer/steps_record.cuh"
#include "device/cuda/peer/tiles.cuh"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

template <class Shape>
struct StepsArguments {
  Part part;
  Arguments<Shape::kCapacity> fold;  ///< without addresses
  recorder::Recording recording;     ///< without an accumulator: none
};

/// What a block's threads share.
struct Shared {
  const std::byte* operands[kMaxRanks];  ///< of the step's fold
  std::byte* results[kMaxRanks];         ///< where they go
  Move moves[kMaxRanks];                 ///< of a block with one step
  std::uint64_t copy_loaded[kCopyTiles], copy_digested[kCopyTiles], fold_loaded[kFoldTiles],
      folded[kFoldTiles];
  std::uint64_t before;
  bool failed, given_up;
};

/// A block of one rank, as one of its teams has it (steps.h).
template <class Shape, class Team, bool kRecorded>
class StepsBlock {
  /// Whether the whole block is the only team.
  static constexpr bool kAlone = std::is_same_v<Team, WholeBlock>;

 public:
  using Vectors = Folder<Shape, Shape::kVector>;
  using Bits = typename Shape::Bits;

  /// `done`: in the first threads, what rank `thread`'s flag was not long ago.
  __device__ StepsBlock(const StepsArguments<Shape>& a, StepsRecord<kRecorded>& record, Shared& shared,
                        std::uint64_t done, const Ring& ring)
      : p_(a.part),
        places_{a.part},
        arguments_(a.fold),
        record_(record),
        shared_(shared),
        done_(done),
        ring_(ring) {}

  __device__ bool wait(Flag flag, std::uint64_t step) {
    const std::uint32_t from = team_.thread();
    return !team_.any(from < p_.layout.ranks && !came_to(flag, from, step));
  }

  __device__ void raise(Flag flag, std::uint64_t step) {
#if __CUDA_ARCH__ >= 900
    if (team_.leads()) bulk::wait_stored();
#endif
    team_.sync();
    if (team_.thread() < p_.layout.ranks) raise_flag(p_, flag, team_.thread(), step);
  }

  __device__ void offer(std::uint32_t i, std::uint64_t step) {
    // Every rank begins with another peer, so that no peer gets everything at the same time.
    // What is folded here has its digest taken there, or by digest_input().
    const bool digests = p_.two_shot || !places_.folds();
    copy_all(record_.input(), p_.layout.ranks, [&](std::uint32_t k) -> Move {
      const std::uint32_t owner = places_.rank_after(k + 1);
      if (!p_.two_shot && p_.wanted_by != kEveryone && p_.wanted_by != owner) return {};
      const Range range = places_.folded_by(owner, i);
      const std::byte* const from = p_.send + range.begin;
      if (owner == p_.rank && is_aligned(from)) return {};
      return {p_.regions[owner] + p_.layout.raw(blockIdx.x, step, p_.rank), from,
              static_cast<std::uint32_t>(range.bytes), digests ? range.begin : kNoPayload};
    });
  }

  __device__ void digest_input(std::uint32_t i) {
    if (!kRecorded || !places_.folds() || (!kAlone && bulk::kThere)) return;
    const Range range = places_.folded_by(p_.rank, i);
    record_.input() += sum_words(p_.send + range.begin, range.begin, static_cast<std::uint32_t>(range.bytes),
                                 team_.thread(), team_.threads);
  }

  __device__ void fold(std::uint32_t i, std::uint64_t step) {
    if (!places_.folds()) return;
    const Range range = places_.folded_by(p_.rank, i);
    const std::uint32_t thread = team_.thread();
    if (thread < p_.layout.ranks) {
      shared_.operands[thread] = places_.operand(thread, range, step);
      shared_.results[thread] = places_.result(thread, range, step);
    }
    team_.sync();
    fold_by_threads(static_cast<std::uint32_t>(range.bytes));
  }

  __device__ void digest_results(std::uint32_t i) {
    if (i == 0 && threadIdx.x == 0) record_.reserve();
    if (!kRecorded || p_.receive == nullptr) return;
    const Range range = places_.folded_by(p_.rank, i);
    record_.output() += sum_words(places_.output(range), range.begin - p_.received_from,
                                  static_cast<std::uint32_t>(range.bytes), team_.thread(), team_.threads);
  }

  __device__ bool collects(std::uint32_t i) const {
    if (p_.receive == nullptr) return false;
    return places_.takes_others() || !is_aligned(places_.output(places_.folded_by(p_.rank, i)));
  }

  __device__ void collect(std::uint32_t i, std::uint64_t step) {
    copy_all(record_.output(), places_.takes_others() ? p_.layout.ranks : 1, [&](std::uint32_t k) -> Move {
      const std::uint32_t owner = places_.rank_after(k);
      const Range range = places_.folded_by(owner, i);
      std::byte* const to = places_.output(range);
      if (k == 0 && is_aligned(to)) return {};
      return {to, places_.results_of(owner, step), static_cast<std::uint32_t>(range.bytes),
              range.begin - p_.received_from};
    });
  }

 private:
  /// Looks no more often than needed: a look takes as long as a small copy.
  __device__ bool came_to(Flag flag, std::uint32_t from, std::uint64_t step) {
    if (flag == Flag::ready) {
      std::uint64_t seen = 0;
      return await_flag(p_, flag, from, step, seen);
    }
    return done_ >= step || await_flag(p_, flag, from, step, done_);
  }
  /// moves(k) for all k below `count`; `sums`: of the payload that they are of.
  template <class Moves>
  __device__ void copy_all(fingerprint::Sums& sums, std::uint32_t count, const Moves& moves) {
    if constexpr (kAlone) {
      if (team_.thread() < count) shared_.moves[team_.thread()] = moves(team_.thread());
      team_.sync();
      constexpr std::uint32_t kMoves = Shape::kGroup;
      if constexpr (kRecorded) {
        copy_together<kMoves>(team_, count, shared_.moves, [&](const Move& move, const auto& vectors) {
          if (move.payload != kNoPayload) sums += sum_vectors(vectors, move.payload / kCopyBytes);
        });
      } else {
        copy_together<kMoves>(team_, count, shared_.moves, [](const Move&, const auto&) {});
      }
    } else {
      for (std::uint32_t k = 0; k < count; ++k)
        copy(sums, moves(k));
    }
  }

  __device__ void copy(fingerprint::Sums& sums, const Move& move) {
    std::uint32_t copied = 0;
#if __CUDA_ARCH__ >= 900
    if (move.bytes >= kLongCopy && is_aligned(move.from) && is_aligned(move.to)) {
      copied = move.bytes / kCopyBytes * kCopyBytes;
      copy_and_digest(sums, move, copied);
    }
#endif
    copy_by_threads(team_, move.to + copied, move.from + copied, move.bytes - copied);
    if (kRecorded && move.payload != kNoPayload && copied == 0)
      sums += sum_words(move.from, move.payload, move.bytes, team_.thread(), team_.threads);
  }

#if __CUDA_ARCH__ >= 900
  /// The first thread copies; all warps but its own take digests meanwhile.
  __device__ void copy_and_digest(fingerprint::Sums& sums, const Move& move, std::uint32_t bytes) {
    if (team_.leads()) {
      bulk::fence_global();
      copy_in_tiles(ring_, move.to, move.from, bytes);
    } else if (kRecorded && team_.thread() >= kWarp) {
      const fingerprint::Sums its =
          digest_tiles(ring_, move.payload / kCopyBytes, bytes, team_.thread() - kWarp);
      ring_.passed += tiles_of(bytes);
      if (move.payload != kNoPayload) sums += its;
    }
  }
#endif

  __device__ void fold_by_threads(std::uint32_t bytes) const {
    constexpr std::uint32_t kUnroll = 8 / Shape::kGroup, kVector = Shape::kVector;
    const auto fold = with_operands<Shape>(arguments_, [&](std::uint32_t j) { return shared_.operands[j]; });
    const Vectors vectors(fold);
    const std::uint32_t count = bytes / sizeof(Bits), whole = count / kVector;
    for (std::uint32_t tile = team_.thread(); tile < whole; tile += team_.threads * kUnroll) {
      typename Vectors::Loaded loaded[kUnroll] = {};
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * team_.threads;
        if (v < whole) vectors.load(loaded[u], std::uint64_t{v} * kVector);
      }
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * team_.threads;
        if (v < whole) {
          write_to_all(vectors.result(loaded[u]), shared_.results, p_.layout.ranks,
                       v * kVector * static_cast<std::uint32_t>(sizeof(Bits)));
        }
      }
    }
    const std::uint32_t element = whole * kVector + team_.thread();
    if (element < count) fold_element<Shape>(fold, shared_.results, p_.layout.ranks, element);
  }

  const Part& p_;
  const Places places_;
  const Arguments<Shape::kCapacity>& arguments_;
  StepsRecord<kRecorded>& record_;
  Shared& shared_;
  const Team team_ = {};
  std::uint64_t done_;
  Ring ring_;
};

/// The last bytes of a step, by one warp.
template <class Shape>
__device__ void fold_tail(const Places& places, const Arguments<Shape::kCapacity>& arguments, Shared& shared,
                          std::uint32_t i, std::uint64_t step) {
  const Range range = places.folded_by(places.part.rank, i);
  const auto bytes = static_cast<std::uint32_t>(range.bytes);
  if (bytes % kCopyBytes == 0 || !places.folds()) return;
  const std::uint32_t lane = threadIdx.x % kWarp, ranks = places.part.layout.ranks;
  if (lane < ranks) {
    shared.operands[lane] = places.operand(lane, range, step);
    shared.results[lane] = places.result(lane, range, step);
  }
  __syncwarp();
  constexpr auto kSize = static_cast<std::uint32_t>(sizeof(typename Shape::Bits));
  const std::uint32_t element = bytes / kCopyBytes * kCopyBytes / kSize + lane;
  if (element >= bytes / kSize) return;
  const auto fold = with_operands<Shape>(arguments, [&](std::uint32_t j) { return shared.operands[j]; });
  fold_element<Shape>(fold, shared.results, ranks, element);
}

/// All steps of the folding team.
template <class Shape, bool kRecorded>
__device__ bool fold_steps(const StepsArguments<Shape>& a, StepsRecord<kRecorded>& record, Shared& shared,
                           std::byte* tiles, std::uint64_t done, std::uint32_t steps) {
#if __CUDA_ARCH__ >= 900
  const Places places{a.part};
  const FoldRing ring{tiles, shared.fold_loaded, shared.folded, &shared.given_up};
  if (threadIdx.x >= kWarp) {
    using Vectors = Folder<Shape, Shape::kVector>;
    return fold_tiles<Vectors, Shape, kRecorded>(places, ring, a.fold, record, steps, threadIdx.x - kWarp);
  }
  FoldMover<Shape> mover(places, ring, shared.before, steps);
  return mover.run(record, [&](std::uint32_t i, std::uint64_t step) {
    fold_tail<Shape>(places, a.fold, shared, i, step);
  });
#else
  StepsBlock<Shape, typename Roles<kRecorded>::FoldingTeam, kRecorded> block(a, record, shared, done, {});
  return run_folds(block, shared.before, steps);
#endif
}

/// Has kSharedBytes of dynamic shared memory where the GPU has bulk copies. `kRecorded`: records itself.
template <class Shape, bool kRecorded>
__global__ void __launch_bounds__(kThreads) steps_kernel(const __grid_constant__ StepsArguments<Shape> a) {
  using FoldingTeam = typename Roles<kRecorded>::FoldingTeam;
  using CopyingTeam = typename Roles<kRecorded>::CopyingTeam;
  extern __shared__ __align__(128) std::byte tiles[];
  __shared__ Shared shared;
  std::byte* const own = a.part.regions[a.part.rank];
  auto* const counter = reinterpret_cast<std::uint64_t*>(own + a.part.layout.counters(blockIdx.x));
  const std::uint32_t steps = a.part.partition.steps(blockIdx.x);
  const bool alone = steps == 1;
  if (threadIdx.x == 0) {
    shared.before = *counter;
    shared.failed = failed_before(a.part);
    shared.given_up = false;
#if __CUDA_ARCH__ >= 900
    for (std::uint64_t& barrier : shared.copy_loaded)
      bulk::init(&barrier, 1);
    for (std::uint64_t& barrier : shared.copy_digested)
      bulk::init(&barrier, kWarp);
    for (std::uint64_t& barrier : shared.fold_loaded)
      bulk::init(&barrier, 1);
    for (std::uint64_t& barrier : shared.folded)
      bulk::init(&barrier, Roles<kRecorded>::kFolders);
    bulk::fence_shared();
#endif
  }
  const bool folds = threadIdx.x < FoldingTeam::threads;
  // Of the team whose first thread it is.
  const std::uint32_t from = alone || folds ? threadIdx.x : threadIdx.x - FoldingTeam::threads;
  const std::uint64_t done = from < a.part.layout.ranks ? load_flag(a.part, Flag::done, from) : 0;
  StepsRecord<kRecorded> record(a.recording, a.part);
  __syncthreads();
  if (shared.failed) {
    record.template finish<WholeBlock>(false);
    return;
  }
  const std::uint64_t before = shared.before;
  bool complete = false;
  if (alone) {
    StepsBlock<Shape, WholeBlock, kRecorded> block(a, record, shared, done, {});
    complete = run_alone(block, before);
  } else if (folds) {
    complete = fold_steps(a, record, shared, tiles + kCopyTile * kCopyTiles, done, steps);
  } else {
    const Ring ring{tiles, shared.copy_loaded, kRecorded ? shared.copy_digested : nullptr, 0};
    StepsBlock<Shape, CopyingTeam, kRecorded> block(a, record, shared, done, ring);
    complete = run_copies(block, before, steps);
#if __CUDA_ARCH__ >= 900
    bulk::wait_stored();
#endif
  }
  const bool all = __syncthreads_and(static_cast<int>(complete)) != 0;
  if (all && threadIdx.x == 0) *counter = before + steps;
  if (alone)
    record.template finish<WholeBlock>(all);
  else if (folds)
    record.template finish<FoldingTeam>(all);
  else
    record.template finish<CopyingTeam>(all);
}

}  // namespace detccl::device::cuda::peer
