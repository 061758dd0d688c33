// SPDX-License-Identifier: Apache-2.0
// The fingerprints of what a rank gives to a reduction in steps and gets from it, and the record of both. The
// message and what is received begin at 16-byte boundaries, and so do all ranges of them (records() in
// peer.cc), so their vectors are words.
#pragma once

#include <type_traits>

#include "device/cuda/peer/copy.cuh"
#include "device/cuda/peer/request.h"
#include "device/cuda/peer/roles.cuh"
#include "device/cuda/peer/unit.cuh"
#include "device/cuda/word.cuh"
#include "recorder/cuda/block_record.cuh"

namespace detccl::device::cuda::peer {

/// By `threads` threads, of which this is number `thread`: what the whole words of `bytes` bytes add that are
/// at `from`, and in the payload from byte `begin` on. A function of its own, for it is wanted in several
/// places of each kernel.
inline __device__ __noinline__ fingerprint::Sums sum_words(const std::byte* from, std::uint64_t begin,
                                                           std::uint32_t bytes, std::uint32_t thread,
                                                           std::uint32_t threads) {
  constexpr std::uint32_t kUnroll = 4;
  const std::uint32_t words = bytes / kCopyBytes;
  const fingerprint::Wide step = fingerprint::step(threads);
  fingerprint::Key key = fingerprint::key_at(begin / kCopyBytes + thread);
  fingerprint::Sums sums;
#pragma unroll 1
  for (std::uint32_t first = thread; first < words; first += threads * kUnroll) {
    Fragment<kCopyBytes> f[kUnroll] = {};
#pragma unroll
    for (std::uint32_t u = 0; u < kUnroll; ++u) {
      const std::uint32_t v = first + u * threads;
      if (v < words) read(f[u], from + v * kCopyBytes);
    }
#pragma unroll
    for (std::uint32_t u = 0; u < kUnroll; ++u) {
      if (first + u * threads < words) sums += fingerprint::mix(word_of(f[u]), key);
      key += step;
    }
  }
  return sums;
}

/// What some vectors of a move add that begins with the payload's word `first`. A function, so that a short
/// operation's code is short, too: each of its instructions is loaded for being run once.
template <std::uint32_t kCount>
__device__ __noinline__ fingerprint::Sums sum_vectors(const Vectors<kCount> v, std::uint64_t first) {
  const fingerprint::Wide step = fingerprint::step(v.apart);
  fingerprint::Key key = fingerprint::key_at(first + v.first);
  fingerprint::Sums sums;
#pragma unroll
  for (std::uint32_t u = 0; u < kCount; ++u) {
    const fingerprint::Sums its = fingerprint::mix(word_of(v.f[u]), key);
    if (v.first + u * v.apart < v.end) sums += its;
    key += step;
  }
  return sums;
}

/// A thread's part. Kernels of operations that do not record themselves have one, too, in which all is
/// constant: with a question at run time in its place they took up to a fifth longer.
template <bool kWanted>
class StepsRecord {
 public:
  /// By all threads of the block, before any of them writes to `part.receive`.
  __device__ __forceinline__ StepsRecord(const recorder::Recording& recording, const Part& part)
      : recording_(recording),
        part_(part),
        result_(fingerprint::step(part.received_from / kCopyBytes)),
        has_rest_(kWanted && threadIdx.x == 0 && block_has_rest()) {
    if (has_rest_) add_rest(input_, part.send);
  }

  /// A thread's part of what it gives and gets, to add to.
  __device__ __forceinline__ fingerprint::Sums& input() { return input_; }
  __device__ __forceinline__ fingerprint::Sums& output() { return output_; }

  /// What this rank gives of a vector of the message, if it is `there`, and the result; `key` of its word.
  /// Two vectors of 8 bytes are a word: both threads of a pair then have one, the even thread the even one.
  template <int kBytes>
  __device__ __forceinline__ void add_folded(const fingerprint::Key& key, const Fragment<kBytes>& given,
                                             const Fragment<kBytes>& result, bool there) {
    if constexpr (kBytes == kCopyBytes) {
      add_folded(key, word_of(given), word_of(result), there);
    } else {
      static_assert(2 * kBytes == kCopyBytes);
      const std::uint32_t pair = 3U << (threadIdx.x % kWarp & ~1U);
      const auto with_next = [&](const Fragment<kBytes>& f) -> fingerprint::Word {
        const auto x = f.template get<std::uint64_t>(0);
        return {x, __shfl_xor_sync(pair, x, 1)};
      };
      const fingerprint::Word own = with_next(given), folded = with_next(result);
      add_folded(key, own, folded, there && threadIdx.x % 2 == 0);
    }
  }

  /// By thread 0, once values of all ranks are there: not earlier, for whoever reads the ring waits for the
  /// place, and a rank may be late.
  __device__ __forceinline__ void reserve() {
    if (kWanted && blockIdx.x == 0)
      place_ = recorder::reserve<recorder::cuda::DeviceMemory>(recording_.ring, recording_.operations);
  }

  /// By all threads of a team, after a barrier behind everything that was written, also where the block has
  /// given up: then it is not `complete`. Each team adds its own part, since racecheck does not see that the
  /// barrier of all threads orders what threads write that have passed others than those that read it.
  template <class Team>
  __device__ __forceinline__ void finish(bool complete) {
    if constexpr (!kWanted) return;
    if (complete && has_rest_ && part_.receive != nullptr) add_rest(output_, part_.receive);
    constexpr unsigned kTeams = 2, kParts = std::is_same_v<Team, WholeBlock> ? kTeams : 1;
    recorder::cuda::leave_record<Team>(recording_, input_, output_, place_, complete, kParts,
                                       kTeams * gridDim.x);
  }

 private:
  __device__ __forceinline__ void add_folded(const fingerprint::Key& key, const fingerprint::Word& given,
                                             const fingerprint::Word& result, bool there) {
    // Without a branch, so that those of several words are computed side by side.
    const fingerprint::Sums of_input = fingerprint::mix(given, key);
    const fingerprint::Sums of_output = fingerprint::mix(result, {key.value - result_});
    if (there) input_ += of_input;
    if (there && part_.receive != nullptr) output_ += of_output;
  }

  /// Whether this block's are the bytes of the message beyond the last whole word.
  __device__ __forceinline__ bool block_has_rest() const {
    const Partition& p = part_.partition;
    if (p.total % kCopyBytes == 0) return false;
    const std::uint64_t in_shard = part_.two_shot ? (p.total - 1) % p.shard : p.total - 1;
    return in_shard / p.piece % p.blocks == blockIdx.x;
  }
  __device__ void add_rest(fingerprint::Sums& sums, const std::byte* payload) const {
    const std::uint64_t total = part_.partition.total, at = total / kCopyBytes * kCopyBytes;
    sums += fingerprint::mix({load_bytes(payload, at, total), load_bytes(payload, at + kUnit, total)},
                             fingerprint::key_at(at / kCopyBytes));
  }

  const recorder::Recording& recording_;
  const Part& part_;
  const fingerprint::Wide result_;  ///< what the key of a word of the message has more than the result's
  fingerprint::Sums input_, output_;
  recorder::Reserved place_;
  const bool has_rest_;
};

}  // namespace detccl::device::cuda::peer
