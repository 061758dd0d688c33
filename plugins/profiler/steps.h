// SPDX-License-Identifier: Apache-2.0
// The program's steps, as libdetccl.so tells of their beginnings. A step ends where the next one begins.
#pragma once

#include <cstdint>

#include "profile/sketch.h"

namespace detccl::profiler {

/// The number of steps that have begun in this process: 0 before the first. Any thread, as all below.
std::uint64_t steps_begun();

/// Step `number` of the program begins at `time` (nanoseconds of now()). Several threads may say so of one
/// step: the first counts.
void step_begins(std::uint64_t number, std::uint64_t time);

/// Of the steps that are through.
profile::Sketch step_times();

/// A class's calls that belong to steps that are through: those of a step count once the next has begun.
class CallsInSteps {
 public:
  void add(std::uint64_t begun) {
    if (begun == 0) return;
    settle(begun);
    ++current_;
  }
  std::uint64_t through(std::uint64_t begun) const { return begun == step_ ? through_ : through_ + current_; }

 private:
  void settle(std::uint64_t begun) {
    if (begun == step_) return;
    through_ += current_;
    current_ = 0;
    step_ = begun;
  }
  std::uint64_t step_ = 0, through_ = 0, current_ = 0;
};

}  // namespace detccl::profiler
