// SPDX-License-Identifier: Apache-2.0
#include "trace/run_info.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace detccl::trace {
namespace {

constexpr std::string_view kEnvironment = "env.";

void put(std::vector<std::byte>& out, std::string_view text) {
  const std::string_view whole = text.substr(0, text.find('\0'));
  const auto bytes = std::as_bytes(std::span(whole.data(), whole.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.push_back(std::byte{0});
}

template <class T>
bool number(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

bool assign(RunInfo& info, std::string_view name, std::string_view value) {
  if (name == "rank") return number(value, info.rank);
  if (name == "world_size") return number(value, info.world_size);
  if (name == "part") return number(value, info.part);
  if (name == "start_ns") return number(value, info.start_ns);
  if (name == "host") info.host = value;
  if (name == "version") info.version = value;
  if (name == "contract") info.contract = value;
  if (name == "nccl") info.nccl = value;
  if (name.starts_with(kEnvironment)) {
    info.environment[std::string(name.substr(kEnvironment.size()))] = value;
  }
  return true;
}

}  // namespace

std::vector<std::byte> encode(const RunInfo& info) {
  std::vector<std::byte> out;
  const auto pair = [&out](std::string_view name, std::string_view value) {
    put(out, name);
    put(out, value);
  };
  pair("rank", std::to_string(info.rank));
  pair("world_size", std::to_string(info.world_size));
  pair("part", std::to_string(info.part));
  pair("start_ns", std::to_string(info.start_ns));
  pair("host", info.host);
  pair("version", info.version);
  pair("contract", info.contract);
  pair("nccl", info.nccl);
  for (const auto& [name, value] : info.environment) {
    pair(std::string(kEnvironment) + name, value);
  }
  return out;
}

std::optional<RunInfo> decode_run_info(std::span<const std::byte> payload) {
  RunInfo info;
  std::string_view rest(reinterpret_cast<const char*>(payload.data()), payload.size());
  while (!rest.empty()) {
    std::string_view field[2];
    for (std::string_view& text : field) {
      const std::size_t end = rest.find('\0');
      if (end == std::string_view::npos) return std::nullopt;
      text = rest.substr(0, end);
      rest.remove_prefix(end + 1);
    }
    if (!assign(info, field[0], field[1])) return std::nullopt;
  }
  return info;
}

}  // namespace detccl::trace
