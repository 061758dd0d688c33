// SPDX-License-Identifier: Apache-2.0
// Scripts on SimGrid, one actor each.
#pragma once

#include <vector>

#include "simulate/platform.h"
#include "simulate/script.h"

namespace detccl::simulate {

/// Seconds until the last actor has done. SimGrid's model CM02 without cross-traffic: flows share a link
/// max-min fairly, both directions of a cable are apart. Runs in a process of its own, as SimGrid's engine is
/// one per process. Throws std::runtime_error if that fails (scripts that wait for ever).
double run(const Platform& platform, const std::vector<Script>& scripts);

}  // namespace detccl::simulate
