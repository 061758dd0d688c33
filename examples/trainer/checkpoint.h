// SPDX-License-Identifier: Apache-2.0
// A training run's state in a file: header, weights, velocities, checksum; little endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"

namespace trainer {

/// Everything that decides the rest of the run; how gradients are cut and carried does not.
struct State {
  std::uint64_t step = 0;  ///< steps done
  std::vector<float> weights, velocity;
};

/// Writes a new file beside `path` and renames it, so that `path` is whole at any moment.
/// Throws std::runtime_error, naming the file.
void write_checkpoint(const std::string& path, const Options& options, int ranks, const State& state);

/// Throws std::runtime_error, naming the file and what is wrong: unreadable, truncated, damaged, or of a run
/// with another seed, batch, number of ranks, gradient type or network than this one.
State read_checkpoint(const std::string& path, const Options& options, int ranks);

}  // namespace trainer
