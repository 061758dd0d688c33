// SPDX-License-Identifier: Apache-2.0
#include "recorder/cuda/detailed.h"

#include <algorithm>

#include "fingerprint/cuda/digest_kernel.cuh"
#include "recorder/cuda/device_memory.cuh"

namespace detccl::recorder::cuda {
namespace {

constexpr unsigned kMovers = 256;

__device__ __forceinline__ AtomicWord nanoseconds() {
  AtomicWord now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
  return now;
}

/// With a digest: the time before it, where it is zero, or the time after it. Either may be null.
struct Clock {
  std::uint64_t *before, *after;
  __device__ __forceinline__ void begin() const {
    if (before != nullptr) atomicCAS(word(*before), AtomicWord{0}, nanoseconds());
  }
  __device__ __forceinline__ void operator()(unsigned) const {
    if (after != nullptr) atomicMax(word(*after), nanoseconds());  // the last block's stays
  }
};

/// Without an input.
__global__ void begin_kernel(Times* times) {
  times->began = nanoseconds();
}

/// In one block.
__global__ void __launch_bounds__(kMovers) end_kernel(const DetailedOperation operation) {
  const Details& details = operation.details;
  __shared__ std::uint64_t number;
  __shared__ bool taken;
  if (threadIdx.x == 0) {
    if (details.output_chunks.count == 0) details.times->ended = nanoseconds();
    taken = begin_record<DeviceMemory>(operation.ring, operation.site, operation.operations, details, number);
  }
  __syncthreads();
  for (std::uint64_t i = threadIdx.x; i < further_slots(details); i += kMovers)
    move_chunk(operation.ring, details, i, taken, number);
  __threadfence_system();  // each thread's slots, before the record's number
  __syncthreads();
  if (threadIdx.x == 0 && taken) end_record<DeviceMemory>(operation.ring, number);
}

/// In as many launches as it takes.
cudaError_t digest_chunks(const Payload& payload, const Chunks& chunks, fingerprint::Sums* sums,
                          const Clock& clock, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (std::uint64_t first = 0; first < chunks.count && error == cudaSuccess;
       first += fingerprint::cuda::kMaxChunks) {
    const std::uint64_t start = first * chunks.bytes;
    const std::uint64_t count = std::min(chunks.count - first, fingerprint::cuda::kMaxChunks);
    error = fingerprint::cuda::launch({static_cast<const std::byte*>(payload.data) + start,
                                       payload.bytes - start, start / 16, chunks.bytes, sums + first},
                                      static_cast<unsigned>(count), {}, clock, stream);
  }
  return error;
}

}  // namespace

cudaError_t begin(const Details& details, const Payload& input, cudaStream_t stream) {
  if (details.input_chunks.count != 0)
    return digest_chunks(input, details.input_chunks, details.input, {nullptr, &details.times->began},
                         stream);
  Times* times = details.times;
  void* parameters[] = {&times};
  return cudaLaunchKernel(begin_kernel, dim3(1), dim3(1), parameters, 0, stream);
}

cudaError_t end(DetailedOperation operation, const Payload& output, cudaStream_t stream) {
  const Details& details = operation.details;
  const cudaError_t error =
      digest_chunks(output, details.output_chunks, details.output, {&details.times->ended, nullptr}, stream);
  if (error != cudaSuccess) return error;
  void* parameters[] = {&operation};
  return cudaLaunchKernel(end_kernel, dim3(1), dim3(kMovers), parameters, 0, stream);
}

cudaError_t load_detailed_kernels() {
  cudaFuncAttributes attributes;
  cudaError_t error = fingerprint::cuda::load<Clock>();
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, begin_kernel);
  return error == cudaSuccess ? cudaFuncGetAttributes(&attributes, end_kernel) : error;
}

}  // namespace detccl::recorder::cuda
