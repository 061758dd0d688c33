// SPDX-License-Identifier: Apache-2.0
// How many thread blocks; what load_kernels() is made of. Internal to the room.
#pragma once

#include <algorithm>

#include "fingerprint/cuda/digest.h"

namespace detccl::fingerprint::cuda {

inline constexpr unsigned kBlocksPerMultiprocessor = 5;

/// Blocks (of each of `chunks` parts) for `tiles` pieces of work: no more than the device runs at once, since
/// each ends with atomic additions.
inline cudaError_t blocks_for(std::uint64_t tiles, unsigned chunks, LaunchLimits limits, unsigned& blocks) {
  int device = 0, multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const std::uint64_t at_once =
      std::uint64_t{kBlocksPerMultiprocessor} * static_cast<std::uint64_t>(multiprocessors);
  std::uint64_t most = std::max<std::uint64_t>(1, at_once / chunks);
  if (limits.max_blocks != 0) most = std::min<std::uint64_t>(most, limits.max_blocks);
  blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(tiles, 1, most));
  return cudaSuccess;
}

cudaError_t load_digest_kernels();
cudaError_t load_torch_hash_kernels();

}  // namespace detccl::fingerprint::cuda
