// SPDX-License-Identifier: Apache-2.0
// Measured times, from the files of perf/results.
#pragma once

#include <string>
#include <vector>

#include "simulate/replay.h"

namespace detccl::simulate {

struct Measured {
  std::string series;  ///< what was measured in one sweep over sizes
  std::uint32_t ranks = 0;
  bool host = false;  ///< host memory; else several processes on one GPU
  Case c;
  engine::Settings settings;  ///< the schedule is given
  double seconds = 0;         ///< median
  double native = 0;          ///< of NCCL in the same run; 0 where there was none
};

/// `chunk`: bytes of a chunk on the GPU where a sweep does not say; 0: the engine's. Throws
/// std::invalid_argument where it is no such file.
std::vector<Measured> read_measured(const std::string& json, std::uint64_t chunk);

}  // namespace detccl::simulate
