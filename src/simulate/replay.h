// SPDX-License-Identifier: Apache-2.0
// A reduction's plans as scripts, in the ticks and waves in which the engine on GPU streams carries them out
// (engine/stream/timetable.h, batch.h).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/reduction.h"
#include "simulate/platform.h"
#include "simulate/script.h"

namespace detccl::simulate {

/// `bytes` of payload: of the message, or of all shards of a reduce_scatter together.
struct Case {
  plan::Collective collective = plan::Collective::all_reduce;
  contract::DataType type = contract::DataType::bfloat16;
  std::uint64_t bytes = 0;
};

/// The engine's settings on GPUs.
inline engine::Settings gpu_settings() {
  return engine::gpu_defaults();
}

/// About as many messages as replay() makes, without making them.
std::uint64_t expected_messages(const Case& c, std::uint32_t ranks, const engine::Settings& settings);

/// One script per lane and rank, lane by lane. `settings.schedule` has to be given. Chunks are of equal size,
/// so the last may be a little larger than the engine's. Stages that the engine hands to NCCL as an
/// all-gather take the closed form's time. Throws std::invalid_argument where there is no such plan.
std::vector<Script> replay(const Case& c, const Platform& platform, const engine::Settings& settings);

}  // namespace detccl::simulate
