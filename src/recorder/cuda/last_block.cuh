// SPDX-License-Identifier: Apache-2.0
// How the blocks of a kernel that digests an operation's payload leave its record.
#pragma once

#include "recorder/cuda/device_memory.cuh"
#include "recorder/ring.h"

namespace detccl::recorder::cuda {

/// By a thread of each of `blocks` blocks, when the block's sums are in the accumulator: the last one writes
/// the record.
inline __device__ __noinline__ void count_block(const Recording& recording, unsigned blocks) {
  __threadfence();  // the block's sums, before it is counted
  if (atomicAdd(word(recording.accumulator->blocks), AtomicWord{1}) + 1 != blocks) return;
  __threadfence();
  write_record<DeviceMemory>(recording.ring, recording.site, recording.operations, recording.accumulator);
}

}  // namespace detccl::recorder::cuda
