// SPDX-License-Identifier: Apache-2.0
// Reductions by one kernel per rank, over regions of memory that all ranks can read and write: the contract's
// bits, fold and transfers in one. Nothing here allocates or waits, so every call can be captured in a CUDA
// graph. Every rank of the group makes the same calls in the same order, one at a time, on streams of its
// own; the kernels of a call wait for each other and so have to run at the same time (docs/peer.md).
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <optional>

#include "device/cuda/fold.h"
#include "device/cuda/peer/layout.h"
#include "device/cuda/peer/partition.h"
#include "plan/plan.h"
#include "recorder/ring.h"

namespace detccl::device::cuda::peer {

enum class Failure : std::uint32_t { none = 0, aborted = 1, timeout = 2 };

/// Words in host memory that the GPU reads and writes.
struct HostWords {
  std::uint32_t abort = 0;    ///< set by the host: kernels that wait end with Failure::aborted
  std::uint32_t failure = 0;  ///< a Failure, set by the GPU; from then on every kernel ends at once
};

/// A rank's end of the group.
struct Endpoint {
  Layout layout;
  std::uint32_t rank = 0;
  /// Every rank's region (Layout::bytes() bytes, zeros at first), as this rank reaches it.
  std::array<std::byte*, kMaxRanks> regions = {};
  HostWords* words = nullptr;              ///< as the GPU reaches them
  std::uint64_t timeout = 30'000'000'000;  ///< nanoseconds that a kernel waits for a peer
};

/// A call goes in packets where a rank sends at most `packets` bytes of values to all others together; in
/// packets by shards where at most `shard_packets` of values and results; and in one shot where at most
/// `one_shot` of values. The latter two do not fit reduce_scatter. The same on every rank.
struct Limits {
  std::uint64_t packets = 448U << 10;
  std::uint64_t shard_packets = 512U << 10;
  std::uint64_t one_shot = 256U << 10;
};

struct Call {
  plan::Collective collective = plan::Collective::all_reduce;
  Arithmetic arithmetic;   ///< its ranks: those of the group
  std::uint32_t root = 0;  ///< reduce only
  const void* send = nullptr;
  void* receive = nullptr;  ///< may be null where nothing is received
  std::uint64_t count = 0;  ///< elements; reduce_scatter: of one rank's result
  /// Not null, where records() says so: the kernel takes the digests of what `send` and `receive` hold before
  /// and after it, and leaves their record. It is copied.
  const recorder::Recording* recording = nullptr;
};

/// How the call is made; nothing if no mode can (an empty one needs none). The same on every rank.
std::optional<Mode> choose_mode(const Call& call, const Layout& layout, const Limits& limits);

/// Whether a call of this shape can be made in `mode`.
bool fits(const Call& call, Mode mode, const Layout& layout);

/// Whether the call, in a mode that fits, can record itself: with its addresses, but in packets.
bool records(const Call& call, Mode mode);

/// Enqueues a rank's part. cudaErrorInvalidValue if `mode` does not fit, or cannot record.
cudaError_t reduce(const Endpoint& endpoint, const Call& call, Mode mode, cudaStream_t stream);

/// Enqueues a kernel that ends when no other rank will write to this rank's region any more, if nobody
/// enqueues any further call.
cudaError_t drain(const Endpoint& endpoint, cudaStream_t stream);

/// Loads all kernels on the current device; see device/cuda/fold.h.
cudaError_t load_kernels();

}  // namespace detccl::device::cuda::peer
