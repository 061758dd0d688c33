// SPDX-License-Identifier: Apache-2.0
// Time of a plan whose ranks go in step, tick by tick, without simulating its messages.
#pragma once

#include "simulate/replay.h"

namespace detccl::simulate {

/// As if all ranks began and ended every tick together: a tick takes its launch, the longest route's latency
/// and the time of the link with the most bytes. Throws std::invalid_argument where there is no such plan, or
/// ranks do not go in step.
double ticks_seconds(const Case& c, const Platform& platform, const engine::Settings& settings);

}  // namespace detccl::simulate
