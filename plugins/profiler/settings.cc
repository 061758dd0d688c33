// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "abi.h"

namespace detccl::profiler {
namespace {

constexpr std::uint64_t kCalls = abi::collective | abi::point_to_point;

std::uint64_t mask_of(const std::string& events) {
  if (events == "off") return 0;
  if (events == "calls") return kCalls;
  if (events == "network") return kCalls | abi::proxy_operation;
  if (events == "kernels") return kCalls | abi::kernel_channel;
  if (events == "all") return kCalls | abi::proxy_operation | abi::kernel_channel;
  return ~std::uint64_t{0};
}

void take(const char* name, std::string& value) {
  if (const char* text = std::getenv(name); text != nullptr && *text != '\0') value = text;
}

bool take_period(const std::string& text, std::uint64_t& nanoseconds) {
  std::uint32_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc{} || stop != end) return false;
  nanoseconds = std::uint64_t{seconds} * 1'000'000'000;
  return true;
}

Settings read_settings() {
  Settings s;
  const std::string usual = s.events;
  take("DETCCL_PROFILER_DIR", s.folder);
  take("DETCCL_PROFILER_CHAIN", s.chain);
  take("DETCCL_PROFILER_EVENTS", s.events);
  s.mask = mask_of(s.events);
  if (s.mask == ~std::uint64_t{0}) {
    say(fmt::format("DETCCL_PROFILER_EVENTS='{}' is not allowed; allowed: off, calls, network, kernels, all",
                    s.events));
    s.events = usual;
    s.mask = mask_of(usual);
  }
  std::string period;
  take("DETCCL_PROFILER_PERIOD", period);
  if (!period.empty() && !take_period(period, s.period))
    say(fmt::format("DETCCL_PROFILER_PERIOD='{}' is not allowed; allowed: whole seconds, 0 for never",
                    period));
  return s;
}

}  // namespace

const Settings& settings() {
  // Never destroyed: threads of NCCL may call until the very end.
  static const Settings& the_settings = *new Settings(read_settings());
  return the_settings;
}

void say(const std::string& line) {
  std::fputs(("detccl profiler: " + line + '\n').c_str(), stderr);
}

}  // namespace detccl::profiler
