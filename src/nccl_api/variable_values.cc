// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/variable_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

namespace detccl::nccl_api {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<std::size_t> parse_bytes(std::string_view text) {
  unsigned shift = 0;
  if (!text.empty()) {
    if (text.back() == 'K') shift = 10;
    if (text.back() == 'M') shift = 20;
  }
  if (shift != 0) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number || *number > (std::numeric_limits<std::size_t>::max() >> shift)) return std::nullopt;
  return *number << shift;
}

bool parse_switch(std::string_view text, bool& value) {
  if (text != "0" && text != "1") return false;
  value = text == "1";
  return true;
}

/// One of so many; 0: none.
bool parse_every(std::string_view text, std::uint32_t& every) {
  const auto number = parse_number(text);
  if (!number || *number > 0xffffffff) return false;
  every = static_cast<std::uint32_t>(*number);
  return true;
}

/// "7" or "5-9".
std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= 0xffffffff) return std::nullopt;
  return std::pair(static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last));
}

/// "hier(peer,X)" or "hier(peer,X)/G".
bool take_peer_hierarchy(std::string_view text, Configuration& c) {
  constexpr std::string_view kStart = "hier(peer,";
  const std::size_t end = text.rfind(')');
  if (!text.starts_with(kStart) || end == std::string_view::npos || end < kStart.size()) return false;
  const std::string between(text.substr(kStart.size(), end - kStart.size()));
  // Plans go by `direct` between nodes where these gather.
  const std::string plans = between == "gather" ? "direct" : between;
  c.schedule = plan::parse_schedule("hier(direct," + plans + std::string(text.substr(end)));
  if (c.schedule) c.rails = plan::parse_schedule(between);
  return c.rails.has_value();
}

}  // namespace

bool take_contract(std::string_view text, Configuration& c) {
  const auto contract = contract::parse_contract(text);
  if (contract) c.contract = *contract;
  return contract.has_value();
}

bool take_schedule(std::string_view text, Configuration& c) {
  c.rails.reset();
  c.schedule = plan::parse_schedule(text);
  c.peer = text == "peer";
  return c.schedule || c.peer || text == "auto" || take_peer_hierarchy(text, c);
}

bool take_peer_blocks(std::string_view text, Configuration& c) {
  c.peer_blocks.reset();
  if (text == "auto") return true;
  const auto blocks = parse_number(text);
  if (!blocks || *blocks > 64) return false;
  c.peer_blocks = static_cast<std::uint32_t>(*blocks);
  return true;
}

bool take_chunk(std::string_view text, Configuration& c) {
  if (text == "auto") {
    c.chunk_bytes = 0;
    return true;
  }
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < 64 || *bytes > (std::size_t{1} << 30)) return false;
  c.chunk_bytes = *bytes;
  return true;
}

bool take_lanes(std::string_view text, Configuration& c) {
  const auto lanes = parse_number(text);
  if (!lanes || *lanes < 1 || *lanes > 8) return false;
  c.lanes = static_cast<std::uint32_t>(*lanes);
  return true;
}

bool take_tuning(std::string_view text, Configuration& c) {
  c.tuning_file = text;
  return true;
}

bool take_group(std::string_view text, Configuration& c) {
  c.group = 0;
  if (text == "auto") return true;
  const auto ranks = parse_number(text);
  if (!ranks || !std::has_single_bit(*ranks) || *ranks > 65536) return false;
  c.group = static_cast<std::uint32_t>(*ranks);
  return true;
}

bool take_scratch(std::string_view text, Configuration& c) {
  if (text == "auto") {
    c.scratch_bytes = 0;
    return true;
  }
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < (std::size_t{64} << 10) || *bytes > (std::size_t{16} << 30)) return false;
  c.scratch_bytes = *bytes;
  return true;
}

bool take_fallback(std::string_view text, Configuration& c) {
  c.fallback_native = text == "native";
  return c.fallback_native || text == "error";
}

bool take_trace(std::string_view text, Configuration& c) {
  constexpr std::string_view kChunks = "chunks:";
  c.trace = text != "0";
  c.trace_times = text == "times";
  c.trace_chunk_bytes = 0;
  if (text == "0" || text == "1" || c.trace_times) return true;
  if (!text.starts_with(kChunks)) return false;
  const auto kilobytes = parse_number(text.substr(kChunks.size()));
  if (!kilobytes || *kilobytes == 0 || *kilobytes > (1u << 20)) return false;
  c.trace_chunk_bytes = *kilobytes << 10;
  return true;
}

bool take_trace_folder(std::string_view text, Configuration& c) {
  c.trace_folder = text;
  return true;
}

bool take_trace_steps(std::string_view text, Configuration& c) {
  const auto range = parse_range(text);
  if (range) c.trace_steps = *range;
  return range.has_value();
}

bool take_trace_ranks(std::string_view text, Configuration& c) {
  c.trace_ranks.clear();
  while (true) {
    const std::size_t comma = text.find(',');
    const auto range = parse_range(text.substr(0, comma));
    if (!range) return false;
    c.trace_ranks.push_back(*range);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool take_log(std::string_view text, Configuration& c) {
  constexpr std::array<std::string_view, 4> kLevels = {"error", "warn", "info", "debug"};
  const auto level = std::find(kLevels.begin(), kLevels.end(), text);
  if (level == kLevels.end()) return false;
  c.log = static_cast<LogLevel>(level - kLevels.begin());
  return true;
}

bool take_prove(std::string_view text, Configuration& c) {
  return parse_switch(text, c.prove);
}

bool take_disable(std::string_view text, Configuration& c) {
  return parse_switch(text, c.disable);
}

bool take_nccl_library(std::string_view text, Configuration& c) {
  c.nccl_library = text;
  return true;
}

bool take_timeout(std::string_view text, Configuration& c) {
  if (text == "auto") {
    c.timeout.reset();
    return true;
  }
  const auto seconds = parse_number(text);
  if (!seconds || *seconds > 365u * 24 * 3600) return false;
  c.timeout = std::chrono::seconds(*seconds);
  return true;
}

/// The profiler plugin reads it, which may be there without this library.
bool take_profilers(std::string_view, Configuration&) {
  return true;
}

bool take_profiler_events(std::string_view text, Configuration&) {
  constexpr std::array<std::string_view, 5> kEvents = {"off", "calls", "network", "kernels", "all"};
  return std::find(kEvents.begin(), kEvents.end(), text) != kEvents.end();
}

bool take_profiler_period(std::string_view text, Configuration&) {
  const auto seconds = parse_number(text);
  return seconds && *seconds <= 0xffffffff;
}

bool take_profiler_shadow(std::string_view text, Configuration& c) {
  return parse_every(text, c.profiler_shadow);
}

bool take_profiler_phases(std::string_view text, Configuration& c) {
  return parse_every(text, c.profiler_phases);
}

/// The report takes six pairs at least, and a summary keeps 128.
bool take_profiler_calibrate(std::string_view text, Configuration& c) {
  const auto calls = parse_number(text);
  if (!calls || (*calls != 0 && (*calls < 6 || *calls > 128))) return false;
  c.profiler_calibrate = static_cast<std::uint32_t>(*calls);
  return true;
}

}  // namespace detccl::nccl_api
