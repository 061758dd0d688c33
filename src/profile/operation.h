// SPDX-License-Identifier: Apache-2.0
// What libdetccl.so tells a profiler plugin in the same process about reductions that it runs itself: NCCL
// sees of them only the transfers. Plain C data, for either may be older than the other.
#pragma once

#include <cstdint>

namespace detccl::profile {

/// Texts are good for the call only.
struct Operation {
  std::uint32_t size = sizeof(Operation);
  std::int32_t rank = 0, ranks = 0;
  std::uint64_t communicator = 0;  ///< the same on all its ranks, another for every communicator of a job
  const char* function = nullptr;  ///< as NCCL's profiler calls them: "AllReduce" …
  const char* datatype = nullptr;  ///< likewise: "ncclFloat32" …
  const char* schedule = nullptr;
  std::uint64_t count = 0;  ///< as in the call
};

enum class Moment : std::uint32_t {
  enqueued,  ///< on its stream, by the calling thread
  measured,  ///< some time after its end, in a later call: `nanoseconds` from when its stream got to it
  ended,     ///< the communicator has; of the operation only the communicator and the rank count
};

/// Any thread; does not throw, and calls nothing of CUDA's or NCCL's.
using Observer = void (*)(const Operation* operation, Moment moment, std::uint64_t nanoseconds);

/// `detcclObserve`, a function of libdetccl.so: null for nobody.
using Observe = void (*)(Observer observer);

}  // namespace detccl::profile
