// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime keeps a thread's last error until somebody asks for it. libdetccl.so has a runtime of its
// own, whose errors the program does not see, nor the other way round; others that are linked with these
// parts have the same one, and would take ours for theirs.
#pragma once

#include <cuda_runtime_api.h>

namespace detccl::device::cuda {

/// Whether a call has succeeded. That it has not is of no concern, and is forgotten.
inline bool tolerate(cudaError_t code) {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
  return code == cudaSuccess;
}

}  // namespace detccl::device::cuda
