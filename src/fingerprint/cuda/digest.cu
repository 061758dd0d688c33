// SPDX-License-Identifier: Apache-2.0
#include "fingerprint/cuda/digest.h"

#include "fingerprint/cuda/digest_kernel.cuh"

namespace detccl::fingerprint::cuda {
namespace {

struct Nothing {
  __device__ __forceinline__ void operator()(unsigned) const {}
};

}  // namespace

cudaError_t digest(const void* data, std::uint64_t bytes, std::uint64_t first_word, Sums* sums,
                   LaunchLimits limits, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  return launch({static_cast<const std::byte*>(data), bytes, first_word, bytes, sums}, 1, limits, Nothing{},
                stream);
}

cudaError_t chunks(const void* data, std::uint64_t bytes, std::uint64_t chunk_bytes, Sums* table,
                   LaunchLimits limits, cudaStream_t stream) {
  if (chunk_bytes == 0 || chunk_bytes % 16 != 0) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  const std::uint64_t count = bytes / chunk_bytes + (bytes % chunk_bytes != 0);
  if (count > kMaxChunks) return cudaErrorInvalidValue;
  return launch({static_cast<const std::byte*>(data), bytes, 0, chunk_bytes, table},
                static_cast<unsigned>(count), limits, Nothing{}, stream);
}

cudaError_t load_digest_kernels() {
  return load<Nothing>();
}

}  // namespace detccl::fingerprint::cuda
