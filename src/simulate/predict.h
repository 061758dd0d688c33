// SPDX-License-Identifier: Apache-2.0
// Predicted times of reductions: by a schedule of ours, and native.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/platform.h"
#include "simulate/replay.h"

namespace detccl::simulate {

struct Prediction {
  double seconds = 0;
  std::string how;          ///< "simulated" or "closed form"
  std::string by;           ///< schedule and chunk, or algorithm and protocol
  std::uint64_t chunk = 0;  ///< bytes; ours only
};

struct Options {
  Platform platform;
  engine::Settings settings = gpu_settings();
  /// Chunks to try, bytes; the best counts, as a tuner would choose it. 0: the engine's own.
  std::vector<std::uint64_t> chunks = {0};
  /// That one simulation may have; a native one an eighth, as its closed form is a good one.
  std::uint64_t most_messages = 4'000'000;
};

enum class Native : std::uint8_t { best, ring, tree };

/// The best of ring and tree (reduce_scatter: ring) over NCCL's protocols, or one of them.
Prediction predict_native(const Case& c, const Options& options, Native algorithm = Native::best);

/// By one schedule; nothing where it has no plan, or one with too many messages and no closed form. `why`,
/// if given, says so then.
std::optional<Prediction> predict(const Case& c, const plan::Schedule& schedule, const Options& options,
                                  std::string* why = nullptr);

/// What the time would be less without a term.
struct Terms {
  double launches = 0, latency = 0, bandwidth = 0, folds = 0;
};
Terms terms(const Case& c, const plan::Schedule& schedule, const Prediction& prediction,
            const Options& options);

}  // namespace detccl::simulate
