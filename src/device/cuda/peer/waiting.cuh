// SPDX-License-Identifier: Apache-2.0
// Waiting that ends: when what is waited for is there, when the host says so, or when it takes too long.
#pragma once

#include "device/cuda/peer/request.h"
#include "device/cuda/peer/system_memory.cuh"

namespace detccl::device::cuda::peer {

__device__ __forceinline__ bool failed_before(const Part& part) {
  return load_relaxed(
             reinterpret_cast<const std::uint32_t*>(part.regions[part.rank] + part.layout.failure())) != 0;
}

/// A thread's patience, new for each thing that is waited for.
class Patience {
 public:
  __device__ explicit Patience(const Part& part) : part_(part) {}

  /// After a look in vain: whether to look again. If not, the failure has been told to host and kernels.
  __device__ bool again() {
    constexpr unsigned kLooks = 256;  // at the host's word and the clock: seldom
    if (++looks_ % kLooks != 0) return true;
    if (failed_before(part_)) return false;  // another of the kernel's threads has given up
    const std::uint64_t now = global_time();
    if (looks_ == kLooks) since_ = now;
    Failure failure = Failure::none;
    if (load_relaxed(&part_.words->abort) != 0)
      failure = Failure::aborted;
    else if (now - since_ > part_.timeout)
      failure = Failure::timeout;
    if (failure == Failure::none) {
      if (looks_ > 64 * kLooks) __nanosleep(200);
      return true;
    }
    const auto code = static_cast<std::uint32_t>(failure);
    store_relaxed(reinterpret_cast<std::uint32_t*>(part_.regions[part_.rank] + part_.layout.failure()), code);
    store_relaxed(&part_.words->failure, code);
    return false;
  }

 private:
  const Part& part_;
  unsigned looks_ = 0;
  std::uint64_t since_ = 0;
};

/// What rank `from` has raised here.
__device__ __forceinline__ std::uint64_t load_flag(const Part& part, Flag flag, std::uint32_t from) {
  return load_acquire(reinterpret_cast<const std::uint64_t*>(part.regions[part.rank] +
                                                             part.layout.flag(flag, blockIdx.x, from)));
}

/// Raises ours at rank `to`.
__device__ __forceinline__ void raise_flag(const Part& part, Flag flag, std::uint32_t to,
                                           std::uint64_t step) {
  store_release(
      reinterpret_cast<std::uint64_t*>(part.regions[to] + part.layout.flag(flag, blockIdx.x, part.rank)),
      step);
}

/// Whether rank `from`'s flag here came to `step`; `seen`: what it was in the end.
__device__ __forceinline__ bool await_flag(const Part& part, Flag flag, std::uint32_t from,
                                           std::uint64_t step, std::uint64_t& seen) {
  Patience patience(part);
  while ((seen = load_flag(part, flag, from)) < step) {
    if (!patience.again()) return false;
  }
  return true;
}

}  // namespace detccl::device::cuda::peer
