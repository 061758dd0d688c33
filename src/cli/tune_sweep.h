// SPDX-License-Identifier: Apache-2.0
// The short sweep of `detccl tune`: the perf programs, which stand beside this one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/tuner/fit.h"

namespace detccl::cli {

struct SweepOptions {
  bool host = false;
  std::uint32_t ranks = 0;  ///< processes that the perf programs start; 0: the launcher does
  std::string launcher;     ///< command line in front of theirs; empty: none
  std::uint32_t group = 0;  ///< ranks near each other; 0: all
  std::string contract = "tree";
  std::uint64_t most_bytes = std::uint64_t{64} << 20;
  std::uint32_t calls = 20;  ///< timed, of each kind
};

struct SweepResult {
  std::vector<plan::tuner::Sample> samples;
  std::uint32_t ranks = 0;
  std::string machine;                ///< processor or GPU
  std::vector<std::string> failures;  ///< lines
};

/// Says on standard error how far it is. Throws std::runtime_error where nothing could be measured.
SweepResult sweep(const SweepOptions& options);

}  // namespace detccl::cli
