// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "event.h"

namespace detccl::profiler {
namespace {

constexpr std::uint64_t kCalls = abi::collective | abi::point_to_point;
constexpr std::array kEventSets = {
    EventSet{"off", 0},
    EventSet{"calls", kCalls},
    EventSet{"network", kCalls | abi::proxy_operation},
    EventSet{"kernels", kCalls | abi::kernel_channel},
    EventSet{"all", kCalls | abi::proxy_operation | abi::kernel_channel},
};

void take(const char* name, std::string& value) {
  if (const char* text = std::getenv(name); text != nullptr && *text != '\0') value = text;
}

Settings read_settings() {
  Settings s;
  take("DETCCL_PROFILER_DIR", s.folder);
  take("DETCCL_PROFILER_CHAIN", s.chain);
  std::string events = s.events->name, period;
  take("DETCCL_PROFILER_EVENTS", events);
  if (const EventSet* found = find_events(events); found != nullptr)
    s.events = found;
  else
    say(fmt::format("DETCCL_PROFILER_EVENTS='{}' is not allowed; allowed: {}", events, kAllowedEvents));
  take("DETCCL_PROFILER_PERIOD", period);
  if (!period.empty() && !parse_period(period, s.period))
    say(fmt::format("DETCCL_PROFILER_PERIOD='{}' is not allowed; allowed: {}", period, kAllowedPeriods));
  return s;
}

}  // namespace

const EventSet* find_events(std::string_view name) {
  const auto* found = std::find_if(kEventSets.begin(), kEventSets.end(),
                                   [name](const EventSet& e) { return e.name == name; });
  return found == kEventSets.end() ? nullptr : found;
}

bool parse_period(std::string_view text, std::uint64_t& nanoseconds) {
  std::uint32_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc{} || stop != end) return false;
  nanoseconds = std::uint64_t{seconds} * 1'000'000'000;
  return true;
}

const Settings& settings() {
  // Never destroyed: threads of NCCL may call until the very end.
  static const Settings& the_settings = *new Settings(read_settings());
  return the_settings;
}

void say(const std::string& line) {
  std::fputs(("detccl profiler: " + line + '\n').c_str(), stderr);
}

}  // namespace detccl::profiler
