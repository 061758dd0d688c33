// SPDX-License-Identifier: Apache-2.0
// Runs executions to their end, as the libraries do.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/drive.h"
#include "engine/execution.h"

namespace detccl::engine {

/// Asked about every 10 ms: why to give up, or nothing to go on.
using Watch = std::function<std::string()>;

struct Outcome {
  Status status = Status::done;
  std::string failure;
};

/// All of a call's executions have one outcome: the first failure ends them.
class RunningExecution {
 public:
  RunningExecution(Execution& execution, const Watch& watch, Outcome& outcome)
      : execution_(execution), watch_(watch), outcome_(outcome) {}

  bool progress() {
    if (outcome_.status == Status::failed) return false;
    const Status status = execution_.progress();
    if (status == Status::failed) outcome_ = {status, execution_.failure()};
    return status == Status::running;
  }
  std::uint64_t steps() const { return execution_.steps(); }
  void watch(Clock::time_point) {
    std::string failure = watch_ ? watch_() : "";
    if (!failure.empty() && outcome_.status != Status::failed)
      outcome_ = {Status::failed, std::move(failure)};
  }

 private:
  Execution& execution_;
  const Watch& watch_;
  Outcome& outcome_;
};

inline Outcome run(std::span<Execution* const> executions, const Watch& watch) {
  Outcome outcome;
  const Watch silent;  // one of them asks
  std::vector<std::unique_ptr<RunningExecution>> tasks;
  for (Execution* execution : executions)
    tasks.push_back(std::make_unique<RunningExecution>(*execution, tasks.empty() ? watch : silent, outcome));
  drive(tasks);
  return outcome;
}

}  // namespace detccl::engine
