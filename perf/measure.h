// SPDX-License-Identifier: Apache-2.0
// Times calls on all ranks at once, two candidates in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "job.h"

namespace detccl::perf {

struct Spread {
  double min = 0.0, median = 0.0, max = 0.0;
};

/// Of at least one value.
Spread spread(std::vector<double> values);

struct Timing {
  Spread ours, peer;  ///< seconds of one call, each the slowest rank's
  Spread ratio;       ///< ours / peer, of the calls that followed each other
};

/// Calls ours, peer, ours, peer …, each after a barrier, `warmup` pairs untimed and then `iterations` timed.
/// An empty `peer` is left out. Collective.
Timing measure(const Job& job, std::uint64_t warmup, std::uint64_t iterations,
               const std::function<void()>& ours, const std::function<void()>& peer);

}  // namespace detccl::perf
