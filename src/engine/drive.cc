// SPDX-License-Identifier: Apache-2.0
#include "engine/drive.h"

#include <sched.h>

#include <thread>

namespace detccl::engine {
namespace {

constexpr int kSpins = 64;  ///< rounds without a step
constexpr std::chrono::milliseconds kBusy{20};
constexpr std::chrono::microseconds kNap{50};

}  // namespace

void Pace::round(std::uint64_t steps, Clock::time_point now) {
  if (steps != steps_) {
    steps_ = steps;
    idle_rounds_ = 0;
    last_step_ = now;
  } else if (++idle_rounds_ >= kSpins) {
    if (now - last_step_ < kBusy) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

}  // namespace detccl::engine
