// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/reduction.h"
#include "nccl_api/nccl_headers.h"

namespace detccl::nccl_api {

/// A reduction whose arguments have been checked.
struct QueuedReduction {
  engine::Reduction call;
  const void* scalar_memory = nullptr;  ///< where PreMulSum's factor is read when the reduction runs
  cudaStream_t stream = nullptr;        ///< on GPUs
};

}  // namespace detccl::nccl_api
