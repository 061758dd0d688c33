// SPDX-License-Identifier: Apache-2.0
#include "steps.h"

#include <atomic>
#include <mutex>

namespace detccl::profiler {
namespace {

struct Steps {
  std::mutex mutex;
  std::uint64_t number = 0, began = 0;
  profile::Sketch through;
};
Steps& steps() {
  // Never destroyed: threads may go on until the very end.
  static Steps& the_steps = *new Steps;
  return the_steps;
}
std::atomic<std::uint64_t> begun{0};

}  // namespace

std::uint64_t steps_begun() {
  return begun;
}

void step_begins(std::uint64_t number, std::uint64_t time) {
  Steps& s = steps();
  const std::lock_guard lock(s.mutex);
  if (begun != 0 && s.number == number) return;
  if (begun != 0 && time > s.began) s.through.add(time - s.began);
  s.number = number;
  s.began = time;
  ++begun;
}

profile::Sketch step_times() {
  Steps& s = steps();
  const std::lock_guard lock(s.mutex);
  return s.through;
}

}  // namespace detccl::profiler
