// SPDX-License-Identifier: Apache-2.0
#include "recorder/cuda/record.h"

#include "fingerprint/cuda/digest_kernel.cuh"

namespace detccl::recorder::cuda {
namespace {

using Word = unsigned long long;

__device__ __forceinline__ Word* word(std::uint64_t& x) {
  return reinterpret_cast<Word*>(&x);
}

/// The ring's state is the device's, so its atomics are the device's too; what goes to the host is made
/// visible to it.
struct DeviceMemory {
  __device__ static std::uint64_t load(std::uint64_t& x) { return *static_cast<volatile std::uint64_t*>(&x); }
  __device__ static void store(std::uint64_t& x, std::uint64_t value) {
    *static_cast<volatile std::uint64_t*>(&x) = value;
  }
  __device__ static std::uint64_t load_from_host(std::uint64_t& x) {
    const std::uint64_t value = load(x);
    __threadfence_system();  // the slot is written after this look
    return value;
  }
  __device__ static std::uint64_t compare_exchange(std::uint64_t& x, std::uint64_t expected,
                                                   std::uint64_t value) {
    return atomicCAS(word(x), static_cast<Word>(expected), static_cast<Word>(value));
  }
  __device__ static std::uint64_t add(std::uint64_t& x, std::uint64_t value) {
    return atomicAdd(word(x), static_cast<Word>(value));
  }
  __device__ static void maximum(std::uint64_t& x, std::uint64_t value) {
    atomicMax(word(x), static_cast<Word>(value));
  }
  __device__ static void publish(std::uint64_t& x, std::uint64_t value) {
    __threadfence_system();
    store(x, value);
  }
};

/// Called by each block of the output's digest: the last one writes the record.
struct Record {
  Operation operation;
  __device__ __noinline__ void operator()(unsigned blocks) const {
    __threadfence();  // the block's sums, before it is counted
    if (atomicAdd(word(operation.accumulator->blocks), Word{1}) + 1 != blocks) return;
    __threadfence();
    write_record<DeviceMemory>(operation.ring, operation.site, operation.operations, operation.accumulator);
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

cudaError_t record(const Operation& operation, const Payload& output, cudaStream_t stream) {
  if (output.bytes == 0) {
    record_kernel<<<1, 1, 0, stream>>>(Record{operation});
    return cudaGetLastError();
  }
  const fingerprint::cuda::Piece piece{static_cast<const std::byte*>(output.data), output.bytes, 0,
                                       output.bytes, &operation.accumulator->output};
  return fingerprint::cuda::launch(piece, 1, {}, Record{operation}, stream);
}

cudaError_t load_kernels() {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, record_kernel);
  if (error == cudaSuccess) error = fingerprint::cuda::load<Record>();
  return error == cudaSuccess ? fingerprint::cuda::load_kernels() : error;
}

}  // namespace detccl::recorder::cuda
