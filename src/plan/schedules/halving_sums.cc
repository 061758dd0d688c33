// SPDX-License-Identifier: Apache-2.0
// The folds of halving and hier.
#include <optional>

#include "plan/schedules/halving_builder.h"

namespace detccl::plan::schedules {

void HalvingBuilder::fold(Stage& stage, const Block& block, const Interval& own,
                          const std::vector<Block>& inside, const std::vector<Place>& received) {
  const bool top = block.size() == spec_.ranks;
  const Form form = top ? Form::final : form_of(spec_, block);
  Place sum{own, {}};
  if (!top) {
    const bool in_place = held_.region.buffer == Buffer::scratch && held_.region.form == form;
    sum.region = in_place ? held_.at(own) : slots_.take(form, own.count());
  }
  // Blocks of the contract that are complete here are rounded: each a run of `inside`.
  struct Group {
    std::size_t first, last;
    std::optional<Place> rounded;
  };
  std::vector<Group> groups;
  const std::uint32_t size = spec_.contract.block;
  for (std::size_t i = 0; i < inside.size();) {
    std::size_t end = i + 1;
    while (size != 0 && end < inside.size() && inside[end].lo / size == inside[i].lo / size)
      ++end;
    if (size == 0) end = inside.size();
    const Block all{0, inside[i].lo, inside[end - 1].hi};
    const bool round = covers_block(spec_, all) && (end - i > 1 || all.size() == 1);
    groups.push_back({i, end, std::nullopt});
    if (round && all.size() == block.size() && !top) {
      groups.back().rounded = sum;
    } else if (round) {
      groups.back().rounded = Place{own, slots_.take(Form::rounded, own.count())};
    }
    i = end;
  }

  for (const Interval& x :
       cut(own, (held_.region.buffer == Buffer::input && apart()) || (top && scatters()))) {
    std::vector<Region> operands;
    for (const Group& group : groups) {
      std::vector<Region> values;
      for (std::size_t i = group.first; i < group.last; ++i)
        values.push_back(inside[i].has(rank_) ? held(x) : received[i].at(x));
      if (group.rounded) {
        stage.folds.push_back({std::move(values), group.rounded->at(x)});
        values = {group.rounded->at(x)};
      }
      operands.insert(operands.end(), values.begin(), values.end());
    }
    const Region to = top ? result(x) : sum.at(x);
    if (operands.size() == 1 && operands.front() == to) continue;  // rounded there already
    stage.folds.push_back({std::move(operands), to});
  }

  for (const Group& group : groups) {
    if (group.rounded && group.rounded->region.slot != sum.region.slot)
      slots_.give_back(group.rounded->region);
  }
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (!inside[i].has(rank_)) slots_.give_back(received[i].region);
  }
  if (sum.region.slot != held_.region.slot) slots_.give_back(held_.region);
  held_ = sum;
}

}  // namespace detccl::plan::schedules
