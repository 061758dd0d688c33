// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <functional>
#include <string>

#include "engine/reduction.h"
#include "nccl_api/environment.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api {

/// What the environment asks for, for an engine on host memory or on GPUs. `hellos`: of the communicator's
/// ranks, in order.
engine::Settings engine_settings(const Configuration& configuration, bool on_host,
                                 std::span<const Hello> hellos);

/// Writes choices to the log: rank 0's at level info, the others', which are the same, at debug. `name`: the
/// communicator's. Null where they would not be written.
std::function<void(const engine::Reduction&, const engine::Choice&)> choice_log(const std::string& name,
                                                                                int rank);

}  // namespace detccl::nccl_api
