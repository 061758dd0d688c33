// SPDX-License-Identifier: Apache-2.0
// What goes on a stream around an operation that is recorded. Nothing here throws, allocates or waits, and
// every call can be captured in a CUDA graph: each replay leaves a record. Any thread, with the stream's
// device current.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "recorder/ring.h"

namespace detccl::recorder::cuda {

struct Payload {
  const void* data = nullptr;
  std::size_t bytes = 0;  ///< 0: there is none
};

/// Adds the payload's digest to `sums`.
cudaError_t digest(const Payload& payload, fingerprint::Sums* sums, cudaStream_t stream);

/// Adds the output's digest to the accumulator, and writes the operation's record into the ring.
cudaError_t record(const Recording& recording, const Payload& output, cudaStream_t stream);

/// Loads the kernels on the current device. Not in a capture.
cudaError_t load_kernels();

}  // namespace detccl::recorder::cuda
