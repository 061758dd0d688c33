// SPDX-License-Identifier: Apache-2.0
// What goes on a stream around an operation whose record is detailed (detail.h). As with record.h, nothing
// here throws, allocates or waits, and all of it can be captured in a CUDA graph.
#pragma once

#include "recorder/cuda/record.h"
#include "recorder/detail.h"

namespace detccl::recorder::cuda {

/// Before the operation: the digests of the input's chunks; then the operation begins.
cudaError_t begin(const Details& details, const Payload& input, cudaStream_t stream);

/// Arguments of begin_record() (detail.h).
struct DetailedOperation {
  Ring ring;
  std::uint64_t site = 0;
  std::uint64_t* operations = nullptr;
  Details details;
};
/// After it: it has ended; the digests of the output's chunks, and the record.
cudaError_t end(DetailedOperation operation, const Payload& output, cudaStream_t stream);

/// Loads these kernels, which load_kernels() does not. Not in a capture.
cudaError_t load_detailed_kernels();

}  // namespace detccl::recorder::cuda
