// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/run.h"

#include <sched.h>
#include <thread>

namespace detccl::nccl_api {
namespace {

using Clock = Lane::Clock;

constexpr std::chrono::milliseconds kWatchInterval{10};

/// Rounds in which nothing moved before the processor is offered to others, and the time after which a
/// waiting thread sleeps instead of asking all the time.
constexpr int kSpins = 64;
constexpr std::chrono::milliseconds kBusy{20};
constexpr std::chrono::microseconds kNap{50};

/// How eagerly to ask again.
class Pace {
 public:
  void moved(Clock::time_point now) {
    idle_rounds_ = 0;
    last_ = now;
  }
  void idle(Clock::time_point now) {
    if (++idle_rounds_ < kSpins) return;
    if (now - last_ < kBusy) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }

 private:
  int idle_rounds_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

ncclResult_t run(const std::vector<std::unique_ptr<Lane>>& lanes) {
  Pace pace;
  std::uint64_t steps_before = 0;
  Clock::time_point next_watch = Clock::now() + kWatchInterval;
  for (bool running = true; running;) {
    running = false;
    std::uint64_t steps = 0;
    for (const auto& lane : lanes) {
      running = lane->progress() || running;
      steps += lane->steps();
    }
    const Clock::time_point now = Clock::now();
    if (steps != steps_before) {
      pace.moved(now);
    } else {
      pace.idle(now);
    }
    steps_before = steps;
    if (now < next_watch) continue;
    for (const auto& lane : lanes)
      lane->watch(now);
    next_watch = now + kWatchInterval;
  }
  for (const auto& lane : lanes) {
    if (lane->result() != ncclSuccess) return lane->result();
  }
  return ncclSuccess;
}

}  // namespace detccl::nccl_api
