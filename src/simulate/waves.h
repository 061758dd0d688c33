// SPDX-License-Identifier: Apache-2.0
// A call's chunks in waves, and the waves' ticks, as the engine on GPU streams has them
// (engine/stream/batch.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulate/replay.h"
#include "simulate/shape.h"

namespace detccl::simulate {

struct Waves {
  std::vector<Shape> shapes;
  std::vector<std::vector<std::size_t>> tasks;  ///< by wave: shapes' numbers
  std::uint32_t interval = 1;                   ///< ticks from one wave's start to the next one's, of a lane
  std::uint32_t lanes = 1;                      ///< wave w is in lane w % lanes (engine/stream/lanes.h)
  bool overlapped = false;
};

/// Throws std::invalid_argument where there is no such plan.
Waves arrange(const Case& c, std::uint32_t ranks, const engine::Settings& settings);

}  // namespace detccl::simulate
