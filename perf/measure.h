// SPDX-License-Identifier: Apache-2.0
// Times calls on all ranks at once, two candidates in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device.h"
#include "job.h"

namespace detccl::perf {

/// In what batches calls are timed.
struct Effort {
  std::uint64_t rounds = 1;  ///< batches of each candidate
  std::uint64_t calls = 1;   ///< in a batch
  std::uint64_t warmup = 1;  ///< calls of each before
  std::uint64_t replays =
      0;                 ///< not 0: the calls are captured as a graph, and this often launched in a batch
  double seconds = 0.0;  ///< not 0: take fewer calls and rounds (3 at least) to end in about that time
};

/// Seconds of one call, each the slowest rank's, one value per round. The peer's are empty if there is none.
struct Timing {
  std::vector<double> ours, peer;
  std::vector<double> our_host, peer_host;  ///< of enqueueing
  std::uint64_t calls = 0;                  ///< in a batch
};

/// Measures peer, ours, peer, ours …, each batch after a barrier. An empty `peer` is left out. Collective.
Timing measure(Job& job, Device& device, const Effort& effort, const std::function<void()>& ours,
               const std::function<void()>& peer);

}  // namespace detccl::perf
