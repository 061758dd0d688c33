// SPDX-License-Identifier: Apache-2.0
// As border.h, for what the engine on GPUs throws.
#pragma once

#include "engine/cuda/cuda_error.h"
#include "nccl_api/border.h"
#include "transport/nccl/nccl_functions.h"

namespace detccl::nccl_api::gpu {

template <class Body>
ncclResult_t gpu_guarded(Body&& body) noexcept {
  return guarded([&body] {
    try {
      return body();
    } catch (const transport::NcclError& e) {
      return fail(e.code(), e.what());
    } catch (const engine::cuda::CudaError& e) {
      return fail(ncclUnhandledCudaError, e.what());
    }
  });
}

}  // namespace detccl::nccl_api::gpu
