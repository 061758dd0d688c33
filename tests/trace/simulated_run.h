// SPDX-License-Identifier: Apache-2.0
// A run in which data flows: what a rank gives to an operation depends on all that it got before, and what it
// gets on what all others gave. So a fault spreads as it does in training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/record.h"
#include "trace_generator/synthetic_run.h"

namespace detccl::test {

using Records = std::vector<trace::Record>;
using RunRecords = std::vector<Records>;  ///< by rank

/// Called for each rank and operation (its place in the rank's row), before data goes in and after it came
/// out; may change the digest, and with it everything that follows.
struct Interference {
  std::function<void(std::uint32_t rank, std::size_t place, trace::Digest& input)> input;
  std::function<void(std::uint32_t rank, std::size_t place, trace::Digest& output)> output;
};

/// All records of all ranks.
RunRecords simulate(const perf::Shape& shape, const Interference& interference = {});

/// Writes all ranks' files.
void write_run(const std::string& folder, const perf::Shape& shape, const RunRecords& run);

/// Numbers a rank's records anew, as the recorder would have.
void renumber(Records& records);

}  // namespace detccl::test
