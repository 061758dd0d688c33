// SPDX-License-Identifier: Apache-2.0
// A communicator of all processes that mpirun has started, and calls on it.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <span>

namespace detccl::perf::rank_digest {

/// Seconds: until the last rank was done, and processor time of a rank, the mean of all.
struct Spent {
  double seconds = 0, processor_seconds = 0;
};

/// Buffers hold float32. Every member is collective; errors throw std::runtime_error.
class Ranks {
 public:
  Ranks(int rank, int ranks);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const Spent& creation() const { return creation_; }

  /// This rank's own digest of all; `alike` if every rank's is the same.
  std::uint64_t all_reduce(std::span<const float> input, bool& alike) const;

  /// Of all shards together: their digests' sum. Shards are of whole 8 bytes.
  std::uint64_t reduce_scatter(std::span<const float> input) const;

  /// A call of an AllReduce of `bytes` bytes, the mean of `calls` that follow one which is not counted.
  Spent call(std::uint64_t bytes, int calls) const;

 private:
  int rank_, ranks_;
  Spent creation_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace detccl::perf::rank_digest
