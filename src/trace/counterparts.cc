// SPDX-License-Identifier: Apache-2.0
#include "trace/counterparts.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace detccl::trace {
namespace {

using Properties = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;
using ByProperties = std::map<Properties, std::map<std::uint64_t, const Communicator*>>;

bool has(std::span<const Communicator> all, std::uint64_t key) {
  return std::any_of(all.begin(), all.end(), [key](const Communicator& c) { return c.key == key; });
}

/// Those that the others do not have. A resumed run may have one twice.
ByProperties only(std::span<const Communicator> all, std::span<const Communicator> others) {
  ByProperties result;
  for (const Communicator& c : all) {
    if (!has(others, c.key)) result[{c.creation_order, c.size, c.rank, c.name}][c.key] = &c;
  }
  return result;
}

}  // namespace

std::map<std::uint64_t, std::uint64_t> counterparts(std::span<const Communicator> a,
                                                    std::span<const Communicator> b) {
  std::map<std::uint64_t, std::uint64_t> keys;
  const ByProperties only_a = only(a, b);
  for (const auto& [properties, of_b] : only(b, a)) {
    const auto of_a = only_a.find(properties);
    if (of_a == only_a.end() || of_a->second.size() != 1 || of_b.size() != 1) continue;
    const auto& [key_a, in_a] = *of_a->second.begin();
    const auto& [key_b, in_b] = *of_b.begin();
    if (in_a->members.empty() || in_b->members.empty()) keys[key_b] = key_a;
  }
  return keys;
}

}  // namespace detccl::trace
