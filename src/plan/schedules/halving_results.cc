// SPDX-License-Identifier: Apache-2.0
// How results of halving and hier get to where they belong.
#include "plan/schedules/halving_builder.h"

namespace detccl::plan::schedules {

/// Where the rank needs room for results: for the most that it ever has of them.
void HalvingBuilder::place_results() {
  if (scatters()) return;
  if (has_output(spec_, rank_)) {
    results_ = {{0, spec_.count}, output(0, spec_.count)};
    return;
  }
  Interval most;
  for (std::size_t level = levels_.count() + 1; level-- > 0;) {
    const Block block = levels_.block(level, rank_);
    if (!block.has(spec_.root)) break;
    if (const auto own = levels_.owned(block, rank_)) most = *own;
  }
  if (!most.empty()) results_ = {most, scratch(program_, Form::final, most.count())};
}

Region HalvingBuilder::result(const Interval& x) {
  if (!scatters()) return results_.at(x);
  const std::uint64_t shard = x.begin / spec_.count;
  if (shard == rank_) return output(0, spec_.count);
  passed_on_.emplace_back(shard, scratch(program_, Form::final, spec_.count));
  return passed_on_.back().second;
}

/// Results from the owners of the block to those in the blocks inside it; in a reduce only on the root's way.
void HalvingBuilder::down(std::size_t level, std::uint32_t step) {
  const Block block = levels_.block(level, rank_), inner = levels_.block(level - 1, rank_);
  const auto had = levels_.owned(inner, rank_), has = levels_.owned(block, rank_);
  if (!had || block.size() == inner.size()) return;
  const auto wanted = [&](const Block& b) {
    return spec_.collective != Collective::reduce || b.has(spec_.root);
  };
  Stage stage;
  if (wanted(inner)) {
    for_owners(block, *had, [&](std::uint32_t owner, const Interval& x) {
      const std::uint32_t peer = via(inner, rank_, owner, x.begin);
      if (owner != rank_) stage.receives.push_back({results_.at(x), peer, peer == owner ? step : step + 1});
    });
  }
  if (has && wanted(block)) {
    for (const Block& other : levels_.inside(block)) {
      if (other.has(rank_) || !wanted(other)) continue;
      for_owners(other, *has, [&](std::uint32_t owner, const Interval& x) {
        const std::uint32_t peer = via(other, owner, rank_, x.begin);
        stage.sends.push_back({results_.at(x), peer == rank_ ? owner : peer, step});
      });
    }
  }
  relayed_.clear();
  if (wanted(levels_.block(level - 1, spec_.ranks - 1)) && level == levels_.relayed()) {
    for (const Pass& pass : passes(level)) {
      relayed_.push_back({slots_.take(Form::final, pass.run.count()), pass.small});
      stage.receives.push_back({relayed_.back().region, pass.large, step});
    }
  }
  append(std::move(stage));
}

/// Results of others of the own group to the small one.
void HalvingBuilder::pass_on_results(std::uint32_t step) {
  Stage stage;
  for (const Relayed& r : relayed_)
    stage.sends.push_back({r.region, r.to, step});
  append(std::move(stage));
}

/// Every owner's results to the ranks whose shards they are.
void HalvingBuilder::hand_out(std::uint32_t step) {
  Stage stage;
  for (const auto& [shard, region] : passed_on_)
    stage.sends.push_back({region, static_cast<std::uint32_t>(shard), step});
  for_owners(top(), {rank_ * spec_.count, (rank_ + std::uint64_t{1}) * spec_.count},
             [&](std::uint32_t owner, const Interval&) {
               if (owner != rank_) stage.receives.push_back({output(0, spec_.count), owner, step});
             });
  append(std::move(stage));
}

}  // namespace detccl::plan::schedules
