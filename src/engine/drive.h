// SPDX-License-Identifier: Apache-2.0
// Drives tasks, one per communicator, to their end on the calling thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace detccl::engine {

using Clock = std::chrono::steady_clock;

/// How often a task is told the time, so that it can look for reasons to give up.
inline constexpr std::chrono::milliseconds kWatchInterval{10};

/// How eagerly a waiting thread asks again: at once for a while, then it yields the processor, for there may
/// be more ranks than cores. After a longer while, or when a yield shows that the cores have other work, it
/// sleeps in between.
class Pace {
 public:
  /// To be called once a round; `steps`: how many have been made so far.
  void round(std::uint64_t steps, Clock::time_point now);

 private:
  std::uint64_t steps_ = 0;
  int idle_rounds_ = 0;
  bool crowded_ = false;  ///< a yield took long
  Clock::time_point last_step_ = Clock::now();
};

/// Moves all tasks on until none has anything left to do. A Task has
///   bool progress()                  moves on without waiting; whether there is more to do
///   std::uint64_t steps() const      grows with every step made: tells progress from waiting
///   void watch(Clock::time_point)    told the time about every 10 ms; may end the task, and take a while
///   itself
template <class Task>
void drive(const std::vector<std::unique_ptr<Task>>& tasks) {
  Pace pace;
  Clock::time_point next_watch = Clock::now() + kWatchInterval;
  for (bool running = true; running;) {
    running = false;
    std::uint64_t steps = 0;
    for (const auto& task : tasks) {
      running = task->progress() || running;
      steps += task->steps();
    }
    const Clock::time_point now = Clock::now();
    pace.round(steps, now);
    if (now < next_watch) continue;
    for (const auto& task : tasks)
      task->watch(now);
    next_watch = now + kWatchInterval;
  }
}

}  // namespace detccl::engine
