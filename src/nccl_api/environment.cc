// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/environment.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "plan/tuner/file.h"

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

bool take_contract(std::string_view text, Configuration& c) {
  const auto contract = contract::parse_contract(text);
  if (contract) c.contract = *contract;
  return contract.has_value();
}

bool take_schedule(std::string_view text, Configuration& c) {
  c.schedule = plan::parse_schedule(text);
  c.peer = text == "peer";
  return c.schedule || c.peer || text == "auto";
}

bool take_peer_blocks(std::string_view text, Configuration& c) {
  const auto blocks = parse_number(text);
  if (!blocks || *blocks < 1 || *blocks > 64) return false;
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
  c.trace_chunk_bytes = 0;
  if (text == "0" || text == "1") return true;
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

/// "7" or "5-9".
std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= 0xffffffff) return std::nullopt;
  return std::pair(static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last));
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
  const auto every = parse_number(text);
  if (!every || *every > 0xffffffff) return false;
  c.profiler_shadow = static_cast<std::uint32_t>(*every);
  return true;
}

constexpr std::array kVariables = {
    Variable{"DETCCL_CONTRACT", "tree", contract::kContractSyntax,
             "The contract: in which order and precision the ranks' values combine.", take_contract},
    Variable{
        "DETCCL_SCHEDULE", "auto",
        "auto|gather|direct|ring|tree|halving[:R]|peer|hier(A,B)/G, A and B direct or halving[:R]",
        "How the values travel; it never changes the bits. ring needs a linear contract, tree, halving and "
        "hier "
        "a tree one. hier goes by A within aligned groups of G ranks, a power of two, and by B between them. "
        "peer: one kernel of each rank that reads and writes the others' memory, up to 8 GPUs of one host.",
        take_schedule},
    Variable{"DETCCL_PEER_BLOCKS", "8", "a number, 1 to 64",
             "Thread blocks of a rank's kernel in schedule peer.", take_peer_blocks},
    Variable{"DETCCL_CHUNK", "auto", "auto, or bytes with an optional K or M, 64 to 1024M",
             "Payload bytes that move through the pipeline at a time.", take_chunk},
    Variable{"DETCCL_TUNING", "", "a file that `detccl tune` has written",
             "What the machine's operations cost, from which schedule and chunk are chosen where they are "
             "auto. Without it: by fixed limits.",
             take_tuning},
    Variable{"DETCCL_GROUP", "auto", "auto, or a power of two",
             "For schedules hier(A,B) without a group of their own: so many consecutive ranks are near each "
             "other, "
             "as those of an NVLink domain. auto: those of a host.",
             take_group},
    Variable{
        "DETCCL_SCRATCH", "auto", "auto, or bytes with an optional K or M, 64K to 16384M",
        "Memory that each communicator sets aside for values on their way: 16M on the host, 64M on a GPU.",
        take_scratch},
    Variable{"DETCCL_FALLBACK", "error", "error|native",
             "What becomes of a reduction that cannot be deterministic: it fails and says why, or it runs "
             "natively, with a warning that says why.",
             take_fallback},
    Variable{
        "DETCCL_TRACE", "0", "0|1|chunks:N, N KB from 1",
        "Record fingerprints of every operation's input and output; chunks:N: also of each N KB of them.",
        take_trace},
    Variable{"DETCCL_TRACE_DIR", "detccl-trace", "a folder",
             "Where the ranks' traces go. Those that are there are never overwritten.", take_trace_folder},
    Variable{"DETCCL_TRACE_STEPS", "", "N or N-M", "The steps that are recorded. Without it: all.",
             take_trace_steps},
    Variable{"DETCCL_TRACE_RANKS", "", "ranks and ranges of ranks: 0,8-15",
             "The ranks of the job that are recorded. Without it: all.", take_trace_ranks},
    Variable{"DETCCL_LOG", "warn", "error|warn|info|debug", "How much is written to standard error.",
             take_log},
    Variable{"DETCCL_PROVE", "0", "0|1",
             "Prove each plan when it is built, and refuse to run one that fails.", take_prove},
    Variable{"DETCCL_DISABLE", "0", "0|1",
             "Leave the reductions to NCCL too. With DETCCL_TRACE they are still recorded.", take_disable},
    Variable{
        "DETCCL_NCCL_LIBRARY", "", "a file or a library's name",
        "The NCCL library underneath. Without it: one that is loaded already; else, on a machine without "
        "NVIDIA "
        "driver, the one for host memory that comes with DetCCL; else what the loader finds as libnccl.so.2.",
        take_nccl_library},
    Variable{
        "DETCCL_TIMEOUT", "600", "whole seconds, 0 for never",
        "On host memory and in schedule peer: after so long without progress a waiting reduction gives up, "
        "and its communicator is in error.",
        take_timeout},
    Variable{"DETCCL_PROFILER_DIR", "detccl-profile", "a folder", "Where the profiler plugin's summaries go.",
             take_profilers},
    Variable{"DETCCL_PROFILER_EVENTS", "network", "off|calls|network|kernels|all",
             "What the profiler plugin asks NCCL for: calls counts them; network also times their network "
             "transfers, "
             "kernels their kernels, which adds host nodes to captured graphs; all: both.",
             take_profiler_events},
    Variable{"DETCCL_PROFILER_PERIOD", "60", "whole seconds, 0 for never",
             "How often the profiler plugin writes its summaries before the end.", take_profiler_period},
    Variable{
        "DETCCL_PROFILER_SHADOW", "0", "K, a number; 0 for none",
        "On host memory, with the profiler plugin: one of every K reductions of a communicator also runs "
        "natively, into memory of its own, so that overhead is known without another run.",
        take_profiler_shadow},
    Variable{"DETCCL_PROFILER_CHAIN", "", "a file or a library's name",
             "Another profiler plugin, which gets what NCCL would have given it.", take_profilers},
};

const Variable* find_variable(std::string_view name) {
  const auto* found =
      std::find_if(kVariables.begin(), kVariables.end(), [&](const auto& v) { return v.name == name; });
  return found == kVariables.end() ? nullptr : found;
}

/// Insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// By distance, then by how far it begins alike.
std::string_view nearest_name(std::string_view name) {
  const auto rank = [name](const Variable& v) {
    const auto alike =
        std::mismatch(name.begin(), name.end(), v.name.begin(), v.name.end()).first - name.begin();
    return std::pair(edit_distance(name, v.name), -alike);
  };
  return std::min_element(kVariables.begin(), kVariables.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
      ->name;
}

std::string not_allowed(const Variable& variable, std::string_view value) {
  return fmt::format("{}='{}' is not allowed; allowed: {}", variable.name, value, variable.syntax);
}

}  // namespace

std::string Variable::option() const {
  std::string text = "--";
  for (const char c : name.substr(std::string_view("DETCCL_").size()))
    text += c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
  return text;
}

std::span<const Variable> Environment::variables() {
  return kVariables;
}

Environment Environment::read(const char* const* entries) {
  Environment environment;
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    const std::string_view entry = *entries;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with("DETCCL_") || equals == std::string_view::npos) continue;
    environment.take(entry.substr(0, equals), entry.substr(equals + 1));
  }
  environment.check_combinations();
  environment.read_tuning();
  return environment;
}

void Environment::take(std::string_view name, std::string_view value) {
  const Variable* variable = find_variable(name);
  if (variable == nullptr) {
    problems_.push_back(
        fmt::format("{} is no variable of DetCCL; the nearest is {}", name, nearest_name(name)));
    return;
  }
  if (value.empty()) return;
  if (!variable->parse(value, configuration_)) problems_.push_back(not_allowed(*variable, value));
}

void Environment::check_combinations() {
  const auto& contract = configuration_.contract;
  const auto& schedule = configuration_.schedule;
  if (problems_.empty() && configuration_.peer && contract.block != 0) {
    problems_.push_back(
        fmt::format("DETCCL_SCHEDULE=peer cannot carry out DETCCL_CONTRACT={}, which has blocks",
                    contract::to_string(contract)));
  }
  if (!problems_.empty() || !schedule || plan::supports(*schedule, contract)) return;
  problems_.push_back(
      fmt::format("DETCCL_SCHEDULE={} cannot carry out DETCCL_CONTRACT={}; allowed: gather or direct with "
                  "any contract, ring with "
                  "linear, tree, halving and hier with tree",
                  plan::name(*schedule), contract::to_string(contract)));
}

void Environment::read_tuning() {
  if (configuration_.tuning_file.empty()) return;
  try {
    configuration_.tuning =
        std::make_shared<const plan::tuner::Coefficients>(plan::tuner::read_file(configuration_.tuning_file));
  } catch (const std::invalid_argument& e) {
    problems_.push_back(fmt::format("DETCCL_TUNING={}", e.what()));
  }
}

std::optional<std::string> check_value(std::string_view name, std::string_view value) {
  const Variable* variable = find_variable(name);
  Configuration ignored;
  if (variable == nullptr || variable->parse(value, ignored)) return std::nullopt;
  return not_allowed(*variable, value);
}

}  // namespace detccl::nccl_api
