// SPDX-License-Identifier: Apache-2.0
#include "recorder/cuda/record.h"

#include "fingerprint/cuda/digest_kernel.cuh"
#include "recorder/cuda/device_memory.cuh"

namespace detccl::recorder::cuda {
namespace {

/// Called by each block of the output's digest: the last one writes the record.
struct Record {
  Recording recording;
  __device__ __noinline__ void operator()(unsigned blocks) const {
    __threadfence();  // the block's sums, before it is counted
    if (atomicAdd(word(recording.accumulator->parts), AtomicWord{1}) + 1 != blocks) return;
    __threadfence();
    write_record<DeviceMemory>(recording.ring, recording.site, recording.operations, recording.accumulator);
  }
};

/// Without an output.
__global__ void record_kernel(const Record record) {
  record(1);
}

}  // namespace

cudaError_t digest(const Payload& payload, fingerprint::Sums* sums, cudaStream_t stream) {
  return fingerprint::cuda::digest(payload.data, payload.bytes, 0, sums, {}, stream);
}

cudaError_t record(const Recording& recording, const Payload& output, cudaStream_t stream) {
  if (output.bytes == 0) {
    Record record{recording};
    void* parameters[] = {&record};
    return cudaLaunchKernel(record_kernel, dim3(1), dim3(1), parameters, 0, stream);
  }
  const fingerprint::cuda::Piece piece{static_cast<const std::byte*>(output.data), output.bytes, 0,
                                       output.bytes, &recording.accumulator->output};
  return fingerprint::cuda::launch(piece, 1, {}, Record{recording}, stream);
}

cudaError_t load_kernels() {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, record_kernel);
  if (error == cudaSuccess) error = fingerprint::cuda::load<Record>();
  return error == cudaSuccess ? fingerprint::cuda::load_kernels() : error;
}

}  // namespace detccl::recorder::cuda
