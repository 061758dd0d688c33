// SPDX-License-Identifier: Apache-2.0
// What libdetccl.so tells a profiler plugin in the same process about reductions that it runs itself: NCCL
// sees of them only the transfers. Plain C data, for either may be older than the other.
#pragma once

#include <array>
#include <cstdint>

namespace detccl::profile {

/// NCCL's data types by their numbers, as its profiler interface names them, and an element's bytes.
inline constexpr std::array<const char*, 12> kTypeNames = {
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
inline constexpr std::array<std::uint64_t, kTypeNames.size()> kTypeBytes = {1, 1, 4, 4, 8, 8,
                                                                            2, 4, 8, 2, 1, 1};

/// Texts are good for the call only. Times are in nanoseconds.
struct Operation {
  std::uint32_t size = sizeof(Operation);
  std::int32_t rank = 0, ranks = 0;
  std::uint64_t communicator = 0;  ///< the same on all its ranks, another for every communicator of a job
  const char* function = nullptr;  ///< as NCCL's profiler calls them: "AllReduce" …
  const char* datatype = nullptr;  ///< likewise: "ncclFloat32" …
  const char* schedule = nullptr;
  std::uint64_t count = 0;  ///< as in the call
  /// measured: what the time went into, where it is known; else all are 0.
  std::uint64_t transfer = 0, fold = 0, wait = 0;
  std::uint64_t native = 0;      ///< paired, calibrated
  const char* reason = nullptr;  ///< not_paired
  /// measured: likewise, transfer and fold in one. Older libraries end before it.
  std::uint64_t kernel = 0;
};

enum class Moment : std::uint32_t {
  enqueued,    ///< on its stream, by the calling thread; on host memory: begun
  measured,    ///< after its end, on GPUs in a later call: `nanoseconds` from when its stream got to it
  ended,       ///< the communicator has; of the operation only the communicator and the rank count
  paired,      ///< it took `nanoseconds`, and the same reduction, run natively beside it, `native`
  not_paired,  ///< it should have been, but could not be
  stepped,     ///< step `count` of the program begins; nothing else of the operation counts
  calibrated,  ///< as paired, in a calibration
};

/// Any thread; does not throw, and calls nothing of CUDA's or NCCL's. Moments that it does not know are none
/// of its business.
using Observer = void (*)(const Operation* operation, Moment moment, std::uint64_t nanoseconds);

/// `detcclObserve`, a function of libdetccl.so: null for nobody.
using Observe = void (*)(Observer observer);

}  // namespace detccl::profile
