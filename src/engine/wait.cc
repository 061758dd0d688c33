// SPDX-License-Identifier: Apache-2.0
#include "engine/wait.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include <sched.h>

namespace detccl::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{10};

/// Rounds without a step before the processor is offered to others.
constexpr int kSpins = 64;

}  // namespace

Outcome run(std::span<Execution* const> executions, const Watch& watch) {
  std::uint64_t steps_before = 0;
  int idle = 0;
  Clock::time_point next_watch = Clock::now() + kWatchInterval;
  for (;;) {
    std::uint64_t steps = 0;
    bool running = false;
    for (Execution* execution : executions) {
      const Status status = execution->progress();
      if (status == Status::failed) return {Status::failed, execution->failure()};
      running = running || status == Status::running;
      steps += execution->steps();
    }
    if (!running) return {};
    idle = steps == steps_before ? idle + 1 : 0;
    steps_before = steps;
    if (idle > kSpins) sched_yield();
    if (watch && Clock::now() >= next_watch) {
      if (std::string failure = watch(); !failure.empty()) return {Status::failed, std::move(failure)};
      next_watch = Clock::now() + kWatchInterval;
    }
  }
}

}  // namespace detccl::engine
