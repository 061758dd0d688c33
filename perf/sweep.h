// SPDX-License-Identifier: Apache-2.0
// One rank of one schedule's sweep: sets up, measures, checks, and hands on records.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "check.h"
#include "collective.h"
#include "device.h"
#include "measure.h"
#include "options.h"

namespace detccl::perf {

/// A run's description, a row, a failure or a warning; from rank 0 only. See report.h.
using Record = std::function<void(const nlohmann::ordered_json&)>;

/// How a sweep ended; also a child's exit code.
enum class Ending {
  through = 0,  ///< went through all sizes, whatever came of them
  broken = 2,   ///< cannot go on with this schedule
  hopeless = 3  ///< nor with another
};

class Sweep {
 public:
  Sweep(Job& job, const Options& options, const Collective& collective, Record record);

  /// Collective. Measures the tasks from number `first` on.
  Ending run(std::uint32_t first);

 private:
  struct Communicators {
    std::optional<Communicator> native, ours, other;
  };

  /// Whether `action` went well on all ranks; else reason_ says what did not.
  bool together(const std::function<void()>& action);
  void set_up();
  void connect();
  nlohmann::ordered_json measure_task(const Task& task);
  std::size_t part_bytes(const Task& task) const;
  Call call_of(const Task& task) const;
  /// One call's elements in two calls: the lower and the upper ones of every part.
  std::vector<Call> halves_of(const Call& call) const;
  void call(const Call& call, const Communicator& comm) const;
  /// `calls`: of consecutive elements of every part of `task`'s input.
  void upload_inputs(const Task& task, const std::vector<Call>& calls, std::uint64_t seed);
  /// Fresh inputs, then the calls, one after the other; what this rank then has received of them.
  std::span<std::byte> results_of(const Task& task, const std::vector<Call>& calls, std::uint64_t seed,
                                  const Communicator& comm);
  Verdict check(const Task& task, const Call& one);
  void falsify(const Task& task, std::span<std::byte> result) const;
  void tell(const nlohmann::ordered_json& record) const;

  Job& job_;
  const Options& options_;
  const Collective& collective_;
  Record record_;
  std::string reason_;

  std::vector<Task> tasks_;
  std::unique_ptr<Device> device_;
  Gpu gpu_;
  Sharing sharing_;
  Library native_, ours_;
  std::optional<Communicators> comms_;
  std::byte *send_ = nullptr, *receive_ = nullptr;
  std::vector<std::byte> staging_;
};

}  // namespace detccl::perf
