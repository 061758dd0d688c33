// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "engine/reduction.h"
#include "nccl_api/nccl_headers.h"
#include "recorder/ring.h"

namespace detccl::nccl_api {

/// A reduction whose arguments have been checked.
struct QueuedReduction {
  engine::Reduction call;
  const void* scalar_memory = nullptr;  ///< where PreMulSum's factor is read when the reduction runs
  cudaStream_t stream = nullptr;        ///< on GPUs
  bool alone = false;                   ///< not in a group
  std::chrono::steady_clock::time_point called{};  ///< when the program's call began; with `native`
  /// The same reduction by the real library, its result elsewhere; set where one may be asked for.
  std::function<ncclResult_t(void* receive)> native = {};
  std::optional<recorder::Recording> recording = {};  ///< on GPUs: what its own kernel is to record
};

}  // namespace detccl::nccl_api
