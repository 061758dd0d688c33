// SPDX-License-Identifier: Apache-2.0
#include "engine/wait.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include <sched.h>

namespace detccl::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{10};

/// How long to poll without yielding. Where every rank can have a core of its own, whoever is waited for runs
/// already, and yielding would only let strangers in; else it may need this very core.
constexpr std::chrono::microseconds kPatience{500};

bool crowded(std::span<Execution* const> executions) {
  std::uint32_t ranks = 0;
  for (const Execution* execution : executions)
    ranks = std::max(ranks, execution->ranks());
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) != 0 ||
         ranks > static_cast<std::uint32_t>(CPU_COUNT(&cores));
}

/// One round over all executions.
struct Round {
  bool running = false;
  Execution* failed = nullptr;
  std::uint64_t steps = 0;
};

Round progress(std::span<Execution* const> executions) {
  Round round;
  for (Execution* execution : executions) {
    const Status status = execution->progress();
    if (status == Status::failed) round.failed = execution;
    round.running = round.running || status == Status::running;
    round.steps += execution->steps();
  }
  return round;
}

}  // namespace

Outcome run(std::span<Execution* const> executions, const Watch& watch) {
  const Clock::duration patience = crowded(executions) ? Clock::duration::zero() : kPatience;
  Clock::time_point next_watch = Clock::now() + kWatchInterval, last_step = Clock::now();
  std::uint64_t steps = 0;
  for (;;) {
    const Round round = progress(executions);
    if (round.failed != nullptr) return {Status::failed, round.failed->failure()};
    if (!round.running) return {};
    const Clock::time_point now = Clock::now();
    if (round.steps != steps) {
      steps = round.steps;
      last_step = now;
    } else if (now - last_step >= patience) {
      sched_yield();
    }
    if (now < next_watch) continue;
    if (std::string failure = watch ? watch() : ""; !failure.empty())
      return {Status::failed, std::move(failure)};
    next_watch = Clock::now() + kWatchInterval;
  }
}

}  // namespace detccl::engine
