// SPDX-License-Identifier: Apache-2.0
// PreMulSums on a stream (engine/scaled_sum.h), in pieces that the memory for products takes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/cuda/stream_engine.h"
#include "engine/scaled_sum.h"

namespace detccl::engine::cuda {

/// Part of a communicator's calls: either some that are no PreMulSums, or a piece of one.
struct Round {
  std::vector<StreamCall> calls;
  std::optional<ScaledSum> piece;
};

class ScaledRun {
 public:
  static bool any(std::span<const Work> work);
  static std::vector<Round> rounds(const Work& work);
  /// The sum that stands for a piece, when its products have been put on the stream.
  static StreamCall begin(StreamEngine& engine, const Round& round);
  static void end(StreamEngine& engine, const Round& round);
};

}  // namespace detccl::engine::cuda
