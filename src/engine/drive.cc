// SPDX-License-Identifier: Apache-2.0
#include "engine/drive.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace detccl::engine {
namespace {

constexpr int kSpins = 64;        ///< rounds without a step
constexpr int kCrowdedSpins = 4;  ///< likewise, where others want the processor
constexpr std::chrono::milliseconds kBusy{20};

/// A yield that takes longer let others work, not only look whether they can. The scheduler counts a yield as
/// a whole slice of processor time, so that whoever goes on yielding gets back ever later than who sleeps.
constexpr std::chrono::microseconds kLongYield{200};

/// Naps are this part of the time waited so far, so that they add no more than that to it, within limits.
constexpr int kNapPart = 8;
constexpr std::chrono::microseconds kShortestNap{50}, kLongestNap{200};

void nap(Clock::duration waited) {
  std::this_thread::sleep_for(std::clamp<Clock::duration>(waited / kNapPart, kShortestNap, kLongestNap));
}

}  // namespace

void Pace::round(std::uint64_t steps, Clock::time_point now) {
  if (steps != steps_) {
    steps_ = steps;
    idle_rounds_ = 0;
    last_step_ = now;
  } else if (++idle_rounds_ >= (crowded_ ? kCrowdedSpins : kSpins)) {
    const Clock::duration waited = now - last_step_;
    if (crowded_ || waited >= kBusy) return nap(waited);
    sched_yield();
    crowded_ = Clock::now() - now > kLongYield;
  }
}

}  // namespace detccl::engine
