// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace detccl::engine::cuda {

/// Loads the fold kernels on `device`, which is current, unless it has been done. Any thread. Throws
/// CudaError.
void load_once(int device);

/// Likewise the kernels of reductions over peer memory, but an error is the result, now and later.
cudaError_t load_peers_once(int device);

}  // namespace detccl::engine::cuda
