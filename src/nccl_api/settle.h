// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_api/communicator.h"

namespace detccl::nccl_api {

/// Waits until a nonblocking communicator has done what it was asked to, where that answered `result`.
ncclResult_t settle(Communicator& communicator, ncclResult_t result);

}  // namespace detccl::nccl_api
