// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/hello.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "nccl_api/topology.h"

namespace detccl::nccl_api {
namespace {

static_assert(std::is_trivially_copyable_v<Hello>);

constexpr std::array<char, 8> kMagic = {'D', 'e', 't', 'C', 'C', 'L', ' ', '5'};

template <std::size_t N>
void assign(std::array<char, N>& target, std::string_view text) {
  target.fill('\0');
  text.copy(target.data(), N - 1);
}

/// The text before the first zero; all of it where there is none.
template <std::size_t N>
std::string_view view(const std::array<char, N>& text) {
  const std::string_view all(text.data(), N);
  return all.substr(0, all.find('\0'));
}

using RanksByText = std::map<std::string_view, std::vector<std::size_t>>;

std::string describe(const RanksByText& groups) {
  std::string line;
  for (const auto& [text, ranks] : groups) {
    line += fmt::format("{}{} on rank{} {}", line.empty() ? "" : "; ", text, ranks.size() == 1 ? "" : "s",
                        rank_list(ranks));
  }
  return line;
}

}  // namespace

std::uint64_t process_number() {
  static std::mutex mutex;
  static std::uint64_t number = 0;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (owner != ::getpid()) {  // new, or forked
    std::random_device random;
    number = std::uint64_t{random()} << 32 | random();
    owner = ::getpid();
  }
  return number;
}

Hello make_hello(const Configuration& c, std::size_t address_bytes, std::string_view problem) {
  Hello hello;
  hello.magic = kMagic;
  assign(hello.settings[0], DETCCL_VERSION);
  assign(hello.settings[1], contract::to_string(c.contract));
  assign(hello.settings[2], schedule_name(c));
  assign(hello.settings[3], c.chunk_bytes == 0 ? "auto" : fmt::to_string(c.chunk_bytes));
  assign(hello.settings[4], c.prove ? "1" : "0");
  assign(hello.settings[5], c.scratch_bytes == 0 ? "auto" : fmt::to_string(c.scratch_bytes));
  assign(hello.settings[6], c.fallback_native ? "native" : "error");
  assign(hello.settings[8], c.group == 0 ? "auto" : fmt::to_string(c.group));
  assign(hello.settings[9],
         c.tuning == nullptr ? "none" : fmt::format("{:016x}", plan::tuner::hash(*c.tuning)));
  assign(hello.settings[10], fmt::to_string(c.profiler_shadow));
  assign(hello.settings[11], c.peer_blocks ? fmt::to_string(*c.peer_blocks) : "auto");
  assign(hello.settings[12], fmt::to_string(c.profiler_calibrate));
  assign(hello.settings[13], fmt::to_string(c.lanes));
  hello.host = host_number();
  hello.domain = hello.host;
  hello.process = process_number();
  hello.address_bytes = address_bytes;
  assign(hello.problem, problem);
  return hello;
}

void set_algorithms(Hello& hello, std::string_view text) {
  assign(hello.settings[7], text.empty() ? "not set" : text);
}

void set_gpu(Hello& hello, std::string_view bus_id) {
  assign(hello.gpu, bus_id);
}

std::string_view gpu_of(const Hello& hello) {
  return view(hello.gpu);
}

void set_name(Hello& hello, std::string_view name) {
  assign(hello.name, name);
}

std::string_view name_of(const Hello& hello) {
  return view(hello.name);
}

std::optional<std::string> find_disagreement(std::span<const Hello> hellos) {
  std::vector<std::size_t> strangers;
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    if (hellos[rank].magic != kMagic) strangers.push_back(rank);
  }
  if (!strangers.empty())
    return fmt::format("another version of DetCCL, or none, on ranks {}", rank_list(strangers));
  for (std::size_t setting = 0; setting < kSettingNames.size(); ++setting) {
    const std::string_view first = view(hellos.front().settings[setting]);
    if (std::all_of(hellos.begin(), hellos.end(),
                    [&](const Hello& hello) { return view(hello.settings[setting]) == first; }))
      continue;
    RanksByText groups;
    for (std::size_t rank = 0; rank < hellos.size(); ++rank)
      groups[view(hellos[rank].settings[setting])].push_back(rank);
    return fmt::format("ranks disagree on {}: {}", kSettingNames[setting], describe(groups));
  }
  return std::nullopt;
}

std::optional<std::string> find_problem(std::span<const Hello> hellos) {
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    const std::string_view problem = view(hellos[rank].problem);
    if (!problem.empty()) return fmt::format("rank {}: {}", rank, problem);
  }
  return std::nullopt;
}

std::uint64_t communicator_number(std::span<const Hello> hellos) {
  if (hellos.empty()) return 1;
  std::uint64_t number = hellos[0].host;
  for (const std::uint64_t part : {hellos[0].process, std::uint64_t{hellos[0].creation_order}})
    number = (number ^ part) * 0x9e3779b97f4a7c15u;
  return number;
}

std::string rank_list(std::span<const std::size_t> ranks) {
  std::string list;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", ranks[i]);
    if (last > i) list += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return list;
}

}  // namespace detccl::nccl_api
