// SPDX-License-Identifier: Apache-2.0
// Results as records, in a table that begins with nccl-tests' columns, and in a JSON file (perf/README.md).
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "check.h"
#include "collective.h"
#include "device.h"
#include "measure.h"
#include "options.h"

namespace detccl::perf {

/// What was measured, and with what.
struct Setting {
  const Options& options;
  const Collective& collective;
  int ranks;
  const Gpu& gpu;
  Bench bench;
  const Library& native;
};

struct Result {
  const Options& options;
  const Collective& collective;
  int ranks;
  const Task& task;
  const Timing& timing;
  const Verdict& verdict;
};

// Records: objects with a "kind": "run", "row", "failure", "warning".
nlohmann::ordered_json describe_run(const Setting& setting);
nlohmann::ordered_json describe_row(const Result& result);
/// `task`: null where it is of none.
nlohmann::ordered_json describe_failure(const Task* task, const std::string& reason);

/// Collects the records of all schedules; on the process that speaks for the job.
class Report {
 public:
  /// `rows`: how many are expected of each schedule.
  Report(const Options& options, std::size_t rows);

  /// Prints it, and writes the JSON file anew. Throws UsageError where that cannot be written.
  void add(nlohmann::ordered_json record);

  /// Prints the last line and writes the file. Returns the exit code: 0 all is well, 1 wrong bits, 2
  /// something could not be measured.
  int finish();

 private:
  void print_head() const;
  void print_row(const nlohmann::ordered_json& row) const;
  void print_progress();
  void write() const;

  const Options& options_;
  std::size_t expected_;
  bool headed_ = false;
  std::string last_warning_;
  nlohmann::ordered_json document_;
  std::chrono::steady_clock::time_point begin_, last_progress_;
};

}  // namespace detccl::perf
