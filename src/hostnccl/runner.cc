// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/runner.h"

#include <sched.h>

#include <algorithm>

#include "hostnccl/track.h"

namespace detccl::hostnccl {
namespace {

constexpr std::chrono::milliseconds kWatchInterval{10};

/// Rounds without a step before the processor is offered to others: there may be more ranks than cores.
constexpr int kSpins = 64;

void drive(std::vector<std::unique_ptr<Track>>& tracks) {
  std::uint64_t steps_before = 0;
  int idle = 0;
  Track::Clock::time_point next_watch = Track::Clock::now() + kWatchInterval;
  while (true) {
    bool running = false;
    std::uint64_t steps = 0;
    for (const auto& track : tracks) {
      running = track->progress() || running;
      steps += track->steps();
    }
    if (!running) return;
    idle = steps == steps_before ? idle + 1 : 0;
    steps_before = steps;
    if (idle > kSpins) sched_yield();
    const Track::Clock::time_point now = Track::Clock::now();
    if (now < next_watch) continue;
    for (const auto& track : tracks)
      track->watch(now);
    next_watch = now + kWatchInterval;
  }
}

}  // namespace

void run(const std::vector<Batch>& batches) {
  std::vector<std::unique_ptr<Track>> tracks;
  for (const Batch& batch : batches)
    tracks.push_back(std::make_unique<Track>(batch));
  drive(tracks);
  for (const auto& track : tracks) {
    if (track->error()) throw *track->error();
  }
}

}  // namespace detccl::hostnccl
