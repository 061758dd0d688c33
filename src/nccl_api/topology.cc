// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/topology.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>
#include <vector>

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

using Domains = std::vector<std::uint64_t>;

/// Whether each aligned block of `size` ranks is in one domain.
bool fits(std::span<const std::uint64_t> domains, std::size_t size) {
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    if (domains[rank] != domains[rank / size * size]) return false;
  }
  return true;
}

std::uint32_t largest_group(std::span<const std::uint64_t> domains) {
  std::uint32_t group = 1;
  while (group * std::size_t{2} <= domains.size() && fits(domains, group * std::size_t{2}))
    group *= 2;
  return group;
}

/// The same ranks, each domain's in a row, the largest domain first.
Domains in_rows(std::span<const std::uint64_t> domains) {
  std::map<std::uint64_t, std::size_t> ranks;
  for (const std::uint64_t domain : domains)
    ++ranks[domain];
  std::vector<std::pair<std::size_t, std::uint64_t>> sorted;
  for (const auto& [domain, count] : ranks)
    sorted.emplace_back(count, domain);
  std::sort(sorted.rbegin(), sorted.rend());
  Domains rows;
  for (const auto& [count, domain] : sorted)
    rows.insert(rows.end(), count, domain);
  return rows;
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

Grouping find_groups(std::span<const std::uint64_t> domains) {
  Grouping grouping;
  grouping.group = largest_group(domains);
  const Domains rows = in_rows(domains);
  const std::uint32_t possible = largest_group(rows);
  const auto fewest = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), rows.back()));
  if (possible > grouping.group) {
    grouping.why = fmt::format(
        "hosts' or NVLink domains' ranks are not in a row: groups of {} that are near each other instead of "
        "{}; "
        "consecutive ranks in a domain, full domains first, would be faster",
        grouping.group, possible);
  } else if (fewest >= grouping.group * std::size_t{2}) {
    grouping.why = fmt::format(
        "hosts or NVLink domains have {} ranks or more, but the aligned groups of ranks that share one have "
        "{}: "
        "a power of two of ranks in each would be faster",
        fewest, grouping.group);
  }
  return grouping;
}

}  // namespace detccl::nccl_api
