// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/reduction.h"
#include "nccl_api/environment.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api {

/// What the environment asks for, for an engine on host memory or on GPUs. `hellos`: of the communicator's
/// ranks, in order.
engine::Settings engine_settings(const Configuration& configuration, bool on_host,
                                 std::span<const Hello> hellos);

}  // namespace detccl::nccl_api
