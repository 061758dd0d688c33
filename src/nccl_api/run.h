// SPDX-License-Identifier: Apache-2.0
// Runs reductions to their end on the calling thread.
#pragma once

#include <memory>
#include <vector>

#include "nccl_api/lane.h"

namespace detccl::nccl_api {

/// Runs all lanes at the same time, each on its own: one that fails does not hold up the others.
/// Returns the first failed lane's code.
ncclResult_t run(const std::vector<std::unique_ptr<Lane>>& lanes);

}  // namespace detccl::nccl_api
