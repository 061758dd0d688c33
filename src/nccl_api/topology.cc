// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/topology.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>

#include <fmt/format.h>

namespace detccl::nccl_api {
namespace {

/// FNV-1a.
std::uint64_t hash(const std::string& text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text)
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

/// Whether each aligned block of `size` ranks is on one host.
bool fits(std::span<const std::uint64_t> hosts, std::size_t size) {
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != hosts[rank / size * size]) return false;
  }
  return true;
}

}  // namespace

std::uint64_t host_number() {
  if (const char* id = std::getenv("NCCL_HOSTID"); id != nullptr && *id != '\0') return hash(id);
  std::array<char, 256> name{};
  static_cast<void>(gethostname(name.data(), name.size() - 1));
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return hash(name.data() + boot);
}

Grouping find_groups(std::span<const std::uint64_t> hosts) {
  Grouping grouping;
  while (grouping.group * std::size_t{2} <= hosts.size() && fits(hosts, grouping.group * std::size_t{2}))
    grouping.group *= 2;
  std::map<std::uint64_t, std::size_t> ranks;
  for (const std::uint64_t host : hosts)
    ++ranks[host];
  const std::size_t fewest = std::min_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
                               return a.second < b.second;
                             })->second;
  if (fewest >= grouping.group * std::size_t{2}) {
    grouping.why = fmt::format(
        "hosts have {} ranks or more, but the aligned groups of ranks that share a host have {}: "
        "consecutive ranks on a host, a power of two of them, would be faster",
        fewest, grouping.group);
  }
  return grouping;
}

}  // namespace detccl::nccl_api
