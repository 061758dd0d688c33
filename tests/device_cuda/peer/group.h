// SPDX-License-Identifier: Apache-2.0
// Ranks of one process: each has a region of GPU memory, streams, an input and an output, and calls are made
// for all of them by one thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../device/random_values.h"
#include "device/cuda/peer/peer.h"
#include "gpu_arena.h"

namespace detccl::device::cuda::peer {

/// One operation of all ranks, in bytes from the start of each one's arena.
struct GroupCall {
  plan::Collective collective = plan::Collective::all_reduce;
  Arithmetic arithmetic;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
  Mode mode = Mode::two_shot;
  std::vector<std::uint64_t> send = {}, receive = {};  ///< by rank
  std::uint64_t send_bytes = 0, receive_bytes = 0;     ///< of one rank
};

class Group {
 public:
  static constexpr std::uint32_t kStreams = 2;  ///< of each rank
  static constexpr std::uint64_t kArena = std::uint64_t{8} << 20;

  explicit Group(std::uint32_t ranks, std::uint32_t blocks = 4, std::uint32_t piece = 4096,
                 std::uint64_t arena = kArena);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t ranks() const { return layout_.ranks; }
  const Layout& layout() const { return layout_; }
  std::byte* memory(std::uint32_t rank) { return ranks_[rank].memory; }
  cudaStream_t stream(std::uint32_t rank, std::uint32_t which = 0) { return ranks_[rank].streams[which]; }
  Endpoint endpoint(std::uint32_t rank) const;
  HostWords& words(std::uint32_t rank) { return *ranks_[rank].words; }
  void set_timeout(std::uint64_t nanoseconds) { timeout_ = nanoseconds; }

  Call call_of(const GroupCall& c, std::uint32_t rank);
  /// Rank `rank`'s part, on one of its streams, after its earlier ones.
  cudaError_t enqueue(const GroupCall& c, std::uint32_t rank, std::uint32_t which = 0);
  void enqueue(const GroupCall& c);
  /// Waits for every rank; what they have failed with.
  std::vector<Failure> finish();

 private:
  struct Rank {
    std::byte* region = nullptr;
    std::byte* memory = nullptr;
    HostWords* words = nullptr;
    cudaStream_t streams[kStreams] = {};
    cudaEvent_t last = nullptr;
    std::uint32_t last_stream = 0;
  };
  Layout layout_;
  std::vector<Rank> ranks_;
  std::uint64_t timeout_ = 10'000'000'000;
};

/// A call of random shape and place that fits into arenas from byte `from` on; ranks in place or not.
GroupCall random_call(host::Random& random, const Group& group, std::uint64_t from, std::uint64_t most_bytes);

/// What rank `rank` has to receive, from the inputs that `arenas` (as the GPU's before the call) hold.
std::vector<std::byte> expected(const GroupCall& c, const std::vector<std::vector<std::byte>>& arenas,
                                std::uint32_t rank);

bool receives(const GroupCall& c, std::uint32_t rank);

std::string describe(const GroupCall& c);

/// How often a long test does what it does: what the environment variable says, or as `usual`.
std::uint64_t times(const char* variable, std::uint64_t usual);

}  // namespace detccl::device::cuda::peer
