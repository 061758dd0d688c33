// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace detccl::peer_bench {

/// A kernel that does nothing.
cudaError_t launch_empty(unsigned blocks, unsigned threads, cudaStream_t stream);

}  // namespace detccl::peer_bench
