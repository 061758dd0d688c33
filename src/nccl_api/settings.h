// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/reduction.h"
#include "nccl_api/environment.h"

namespace detccl::nccl_api {

/// What the environment asks for, for an engine on host memory or on GPUs.
engine::Settings engine_settings(const Configuration& configuration, bool on_host);

}  // namespace detccl::nccl_api
