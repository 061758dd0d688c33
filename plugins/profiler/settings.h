// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace detccl::profiler {

/// DETCCL_PROFILER_…, read once. A value that is not allowed is told on standard error and counts as not set:
/// a profiler does not stop a job.
struct Settings {
  std::string folder = "detccl-profile";  ///< DETCCL_PROFILER_DIR
  std::string chain;                      ///< DETCCL_PROFILER_CHAIN: another plugin's file; empty: none
  std::string events = "network";         ///< DETCCL_PROFILER_EVENTS
  std::uint64_t period =
      60'000'000'000;      ///< nanoseconds; DETCCL_PROFILER_PERIOD in seconds; 0: at the end only
  std::uint64_t mask = 0;  ///< the kinds of events that it means
};

const Settings& settings();

/// A line on standard error.
void say(const std::string& line);

}  // namespace detccl::profiler
