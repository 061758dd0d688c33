// SPDX-License-Identifier: Apache-2.0
// One-shot and two-shot reductions.
#pragma once

#include "device/cuda/fold_kernel.cuh"
#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/steps.h"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {

inline constexpr unsigned kThreads = 512;

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
  std::uint64_t before;
  bool failed;
};

/// A block of one rank (steps.h).
template <class Shape>
class StepsBlock {
 public:
  using Vectors = Folder<Shape, Shape::kVector>;
  using Single = Folder<Shape, 1>;
  using Bits = typename Shape::Bits;

  __device__ StepsBlock(const Part& part, Shared<Shape>& shared) : p_(part), shared_(shared) {}

  __device__ bool wait(Flag flag, std::uint64_t step) {
    const unsigned from = threadIdx.x;
    const bool failed = from < p_.layout.ranks && from != p_.rank && !await_flag(p_, flag, from, step);
    return __syncthreads_or(static_cast<int>(failed)) == 0;
  }

  __device__ void raise(Flag flag, std::uint64_t step) {
    __syncthreads();
    const unsigned to = threadIdx.x;
    if (to < p_.layout.ranks && to != p_.rank) {
      store_release(
          reinterpret_cast<std::uint64_t*>(p_.regions[to] + p_.layout.flag(flag, blockIdx.x, p_.rank)), step);
    }
  }

  __device__ void offer(std::uint32_t i, std::uint64_t step) {
    if (!p_.two_shot) {
      const Range range = p_.partition.range(0, blockIdx.x, i);
      copy_block(own_values(step), p_.send + range.begin, static_cast<std::uint32_t>(range.bytes));
      return;
    }
    // Every rank begins with another peer, so that no peer gets everything at the same time.
    for (std::uint32_t k = 1; k <= p_.layout.ranks; ++k) {
      const std::uint32_t owner = (p_.rank + k) % p_.layout.ranks;
      const Range range = p_.partition.range(owner, blockIdx.x, i);
      const std::byte* const from = p_.send + range.begin;
      if (owner == p_.rank && is_aligned(from)) continue;
      copy_block(p_.regions[owner] + p_.layout.raw(blockIdx.x, step, p_.rank), from,
                 static_cast<std::uint32_t>(range.bytes));
    }
  }

  __device__ void fold(std::uint32_t i, std::uint64_t step) {
    const Range range = p_.partition.range(p_.two_shot ? p_.rank : 0, blockIdx.x, i);
    if (threadIdx.x < p_.layout.ranks) {
      shared_.fold.operands[threadIdx.x] = operand(threadIdx.x, range, step);
      shared_.results[threadIdx.x] = result(threadIdx.x, range, step);
    }
    __syncthreads();
    const Vectors vectors(shared_.fold);
    const Single single(shared_.fold);
    constexpr std::uint32_t kUnroll = Shape::kUnroll, kVector = Shape::kVector;
    const std::uint32_t count = static_cast<std::uint32_t>(range.bytes / sizeof(Bits));
    const std::uint32_t whole = count / kVector;
    if (!folds()) return;
    for (std::uint32_t tile = threadIdx.x; tile < whole; tile += blockDim.x * kUnroll) {
      typename Vectors::Loaded loaded[kUnroll];
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * blockDim.x;
        if (v < whole) vectors.load(loaded[u], std::uint64_t{v} * kVector);
      }
#pragma unroll
      for (std::uint32_t u = 0; u < kUnroll; ++u) {
        const std::uint32_t v = tile + u * blockDim.x;
        if (v < whole)
          spread(vectors.result(loaded[u]), v * kVector * static_cast<std::uint32_t>(sizeof(Bits)));
      }
    }
    const std::uint32_t element = whole * kVector + threadIdx.x;
    if (element < count) {
      typename Single::Loaded loaded;
      single.load(loaded, element);
      spread(single.result(loaded), element * static_cast<std::uint32_t>(sizeof(Bits)));
    }
  }

  __device__ bool collects() const {
    return p_.two_shot && !p_.scattered && p_.receive != nullptr;
  }

  __device__ void collect(std::uint32_t i, std::uint64_t step) {
    if (p_.receive == nullptr) return;
    for (std::uint32_t k = 0; k < p_.layout.ranks; ++k) {
      const std::uint32_t owner = (p_.rank + k) % p_.layout.ranks;
      if (k != 0 && !collects()) break;
      const Range range = p_.partition.range(p_.two_shot ? owner : 0, blockIdx.x, i);
      std::byte* const to = output(range);
      if (k == 0 && is_aligned(to)) continue;
      copy_block(to, results_of(owner, step), static_cast<std::uint32_t>(range.bytes));
    }
  }

 private:
  __device__ std::byte* own() const {
    return p_.regions[p_.rank];
  }
  __device__ std::byte* own_values(std::uint64_t step) const {
    return own() + p_.layout.raw(blockIdx.x, step, 0);
  }
  __device__ std::byte* results_of(std::uint32_t owner, std::uint64_t step) const {
    return own() + p_.layout.results(blockIdx.x, step, p_.two_shot ? owner : 0);
  }
  __device__ std::byte* output(const Range& range) const {
    return p_.receive + (range.begin - p_.received_from);
  }

  /// Whether this rank has anything to fold: in one shot those that receive nothing have not.
  __device__ bool folds() const {
    return p_.two_shot || p_.receive != nullptr;
  }

  /// Where rank `from`'s values are, at an aligned address.
  __device__ const std::byte* operand(std::uint32_t from, const Range& range, std::uint64_t step) const {
    const std::byte* const mine = p_.send + range.begin;
    if (from == p_.rank && is_aligned(mine)) return mine;
    if (!p_.two_shot) return p_.regions[from] + p_.layout.raw(blockIdx.x, step, 0);
    return own() + p_.layout.raw(blockIdx.x, step, from);
  }

  /// Where rank `to` gets the results, at an aligned address; null: nowhere.
  __device__ std::byte* result(std::uint32_t to, const Range& range, std::uint64_t step) const {
    if (to == p_.rank) {
      if (p_.receive == nullptr) return nullptr;
      std::byte* const place = output(range);
      return is_aligned(place) ? place : results_of(p_.rank, step);
    }
    if (!p_.two_shot || p_.scattered || (p_.wanted_by != kEveryone && p_.wanted_by != to)) return nullptr;
    return p_.regions[to] + p_.layout.results(blockIdx.x, step, p_.rank);
  }

  template <int kBytes>
  __device__ void spread(const Fragment<kBytes>& f, std::uint32_t at) const {
    for (std::uint32_t k = 0; k < p_.layout.ranks; ++k) {
      std::byte* const to = shared_.results[k];
      if (to != nullptr) write(f, to + at);
    }
  }

  const Part& p_;
  Shared<Shape>& shared_;
};

template <class Shape>
__global__ void __launch_bounds__(kThreads) steps_kernel(const __grid_constant__ StepsArguments<Shape> a) {
  __shared__ Shared<Shape> shared;
  std::byte* const own = a.part.regions[a.part.rank];
  auto* const counter = reinterpret_cast<std::uint64_t*>(own + a.part.layout.counters(blockIdx.x));
  if (threadIdx.x == 0) {
    shared.fold = a.fold;
    shared.before = *counter;
    shared.failed = failed_before(a.part);
  }
  __syncthreads();
  if (shared.failed) return;
  const std::uint64_t before = shared.before;
  const std::uint32_t steps = a.part.partition.steps(blockIdx.x);
  StepsBlock<Shape> block(a.part, shared);
  if (!run_steps(block, before, steps)) return;
  if (threadIdx.x == 0) *counter = before + steps;
}

}  // namespace detccl::device::cuda::peer
