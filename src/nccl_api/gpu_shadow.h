// SPDX-License-Identifier: Apache-2.0
// What a communicator on GPUs has beside the real library's handle. The engine behind it is in gpu/; a build
// without CUDA has none.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "nccl_api/nccl_headers.h"
#include "nccl_api/queued_reduction.h"

namespace detccl::nccl_api {

class Communicator;

class GpuShadow {
 public:
  virtual ~GpuShadow() = default;

  /// Around a native operation on `stream`, so that it keeps its place among the communicator's operations.
  /// Any thread. `later`: the real library puts it there in a thread of its own.
  virtual ncclResult_t before_native(cudaStream_t stream) = 0;
  virtual ncclResult_t after_native(cudaStream_t stream, bool later) = 0;

  /// Whether reductions go over peer memory; the same on every rank. Any thread.
  virtual bool over_peers() const = 0;
  /// Whether the reduction's last kernel is to record it; `alone`: whether it is in no group. Any thread.
  virtual bool records(const engine::Reduction& call, bool alone) const = 0;
  /// What NCCL has found out about our communicator. Any thread.
  virtual ncclResult_t async_error() const = 0;
  /// Stops what is under way, also on the GPU. Any thread.
  virtual void abort() = 0;
  /// The end of a sound communicator; collective. Nothing else may be under way in another thread.
  virtual void destroy() = 0;
};

namespace gpu {

/// Why this build cannot reduce on GPUs; null if it can.
const char* unavailable();

/// Collective over the communicator's ranks, which must be ready and have nothing else under way: makes the
/// communicator's GpuShadow, unless settings differ or a rank cannot take part, which all ranks are told
/// alike. The calling thread must not be inside a group of the real library; the communicator must have been
/// entered.
ncclResult_t connect(Communicator& communicator);

/// Puts reductions on their streams, those of a communicator in their order. The calling thread must not be
/// inside a group of the real library. Connects communicators that are not yet.
using Queued = std::pair<std::shared_ptr<Communicator>, QueuedReduction>;
ncclResult_t enqueue(std::span<const Queued> queue);

}  // namespace gpu
}  // namespace detccl::nccl_api
