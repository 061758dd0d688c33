// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace detccl::profiler {

/// A value of DETCCL_PROFILER_EVENTS, and the kinds of events that it means.
struct EventSet {
  const char* name;
  std::uint64_t mask;
};
/// Null: there is no such value.
const EventSet* find_events(std::string_view name);
inline constexpr const char* kAllowedEvents = "off, calls, network, kernels, all";

/// Whole seconds, to nanoseconds; false for anything else.
bool parse_period(std::string_view text, std::uint64_t& nanoseconds);
inline constexpr const char* kAllowedPeriods = "whole seconds, 0 for never";

/// DETCCL_PROFILER_…, read once. A value that is not allowed is told on standard error and counts as not set:
/// a profiler does not stop a job. What of it can change while the program runs is in control.h.
struct Settings {
  std::string folder = "detccl-profile";  ///< DETCCL_PROFILER_DIR
  std::string chain;                      ///< DETCCL_PROFILER_CHAIN: another plugin's file; empty: none
  const EventSet* events = find_events("network");  ///< DETCCL_PROFILER_EVENTS
  std::uint64_t period =
      60'000'000'000;  ///< nanoseconds; DETCCL_PROFILER_PERIOD in seconds; 0: at the end only
};

const Settings& settings();

/// A line on standard error.
void say(const std::string& line);

}  // namespace detccl::profiler
