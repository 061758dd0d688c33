// SPDX-License-Identifier: Apache-2.0
// The fingerprint of device memory, on a CUDA stream: the same values as fingerprint/digest.h and
// torch_hash.h. Results are added to what device memory holds already, so that pieces add up; the caller
// clears it first (cudaMemsetAsync). Nothing here throws, allocates or synchronises, and every call can be
// captured in a CUDA graph. Thread rule: any thread, with the stream's device current. Fused into another
// kernel: mix.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "fingerprint/mix.h"
#include "fingerprint/torch_hash.h"

namespace detccl::fingerprint::cuda {

struct LaunchLimits {
  std::uint32_t max_blocks = 0;  ///< thread blocks of the kernel, for room beside other work; 0: no limit
};

/// The most chunks of one call.
inline constexpr std::uint64_t kMaxChunks = 65535;

/// *sums += what the `bytes` bytes at `data` add, their first one being the first of the payload's word
/// number `first_word`. Any alignment, fastest at multiples of 16 bytes. `sums`: device memory, or host
/// memory that the device can add to atomically.
cudaError_t digest(const void* data, std::uint64_t bytes, std::uint64_t first_word, Sums* sums,
                   LaunchLimits limits, cudaStream_t stream);

/// table[c] += the sums of chunk c, in the places of a payload that begins with `data`; as chunks() of
/// digest.h. cudaErrorInvalidValue: `chunk_bytes` is 0 or no multiple of 16, or there are more than
/// kMaxChunks. max_blocks counts those of one chunk.
cudaError_t chunks(const void* data, std::uint64_t bytes, std::uint64_t chunk_bytes, Sums* table,
                   LaunchLimits limits, cudaStream_t stream);

/// *hash ^= torch_hash(type, data, count). Any alignment.
cudaError_t torch_hash(TorchType type, const void* data, std::uint64_t count, std::uint64_t* hash,
                       LaunchLimits limits, cudaStream_t stream);

/// Loads the kernels on the current device, so that no later call does, which may wait for what the device is
/// doing. Not in a capture.
cudaError_t load_kernels();

}  // namespace detccl::fingerprint::cuda
