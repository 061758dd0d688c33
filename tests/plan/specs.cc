// SPDX-License-Identifier: Apache-2.0
#include "specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace detccl::plan::testing {

std::uint64_t pick(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

std::vector<contract::Contract> contracts() {
  std::vector<contract::Contract> list;
  for (const auto order : {contract::Order::tree, contract::Order::linear}) {
    list.push_back({order, contract::Accumulate::wide, 0});
    list.push_back({order, contract::Accumulate::native, 0});
    for (const std::uint32_t block : {2u, 4u, 8u})
      list.push_back({order, contract::Accumulate::wide, block});
  }
  return list;
}

std::vector<contract::Contract> contracts_of(Schedule schedule) {
  std::vector<contract::Contract> list;
  for (const auto& c : contracts()) {
    if (supports(schedule, c)) list.push_back(c);
  }
  return list;
}

Spec random_spec(Random& random, std::uint32_t most_ranks) {
  Spec spec;
  spec.collective = kCollectives[pick_index(random, std::size(kCollectives))];
  spec.schedule = kSchedules[pick_index(random, std::size(kSchedules))];
  const auto list = contracts_of(spec.schedule);
  spec.contract = list[pick_index(random, list.size())];
  spec.ranks = static_cast<std::uint32_t>(pick(random, 1, most_ranks));
  spec.root = static_cast<std::uint32_t>(pick_index(random, spec.ranks));
  const std::uint64_t most[] = {2, spec.ranks + 1, 200, 100 * spec.ranks};
  spec.count = pick(random, 1, most[pick_index(random, std::size(most))]);
  if (spec.collective == Collective::reduce_scatter) spec.stride = spec.count + pick(random, 0, 2);
  const auto list_of_pieces = pieces(spec);
  return list_of_pieces[pick_index(random, list_of_pieces.size())].spec;
}

std::vector<Program> build_all(const Spec& spec) {
  std::vector<Program> programs;
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank)
    programs.push_back(build(spec, rank));
  return programs;
}

std::string test_name(const Schedule& schedule) {
  std::string text = name(schedule);
  std::erase(text, ')');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '(' || c == ',' || c == '/' || c == ':'; }, '_');
  return text;
}

std::string describe(const Spec& spec) {
  return fmt::format("{} by {}, {}, n = {}, root {}, count {}, stride {}", name(spec.collective),
                     name(spec.schedule), contract::to_string(spec.contract), spec.ranks, spec.root,
                     spec.count, spec.stride);
}

}  // namespace detccl::plan::testing
