// SPDX-License-Identifier: Apache-2.0
// halving and hier (`tree` only): sums of aligned blocks of ranks, every block's made of those of the blocks
// inside it, each owner keeping less and less of the message (levels.h). Level by level an owner sends the
// others of its block what they keep of its part, gets what it keeps of theirs, and folds. The owners of all
// ranks' block have the result, which goes back the same way, level by level.
//
// Levels: halving doubles the blocks (distance 1, 2, 4 …), or joins up to `radix` of them at a time; with a
// wide contract it begins with raw values among 8 ranks, or `radix`. hier(a,b)/g goes from 1 to g ranks by a
// and on to all by b: direct is one level. Rank i of a full block of g then talks to rank i of the others:
// rails.
//
// n ranks, L levels, S the message (reduce_scatter: all shards) in payload bytes, P in the accumulation type.
// For n a power of two and halving, per rank:
//
//                   steps   sent and received                        peers                    scratch
//   all_reduce      2 L     2 S (n-1)/n + (1/8 - 1/n)(P - S)         log2 n; wide log2 n + 4   S + P
//   reduce          2 L     at most 1.5 S sent, by the root received twice S (n-1)/n, + (P - S)/8
//   reduce_scatter  L + 1   S (n-1)/n + (1/8 - 1/n)(P - S), and for some a shard more
//
// Ragged n: an owner in a ragged block gives all it has to owners in the full ones, and gets it back. Nobody
// sends or receives more than 2 S then (for P = S). By hier, what a last group that is not full has to do
// with the others can go by way of another rank of theirs. Summation order: the contract's tree, block by
// block. With blocks of B a block's sum is rounded where it is complete; sums of several blocks are partials.
#include "plan/schedules/halving_builder.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {

Program HalvingBuilder::build() {
  place_results();
  std::uint32_t step = 0;
  for (std::size_t level = 1; level <= levels_.count(); ++level) {
    const bool relayed = level == levels_.relayed();
    if (relayed) take_for_others(level, step++);
    up(level, step++);
    for (const Relayed& r : relayed_)
      slots_.give_back(r.region);
    relayed_.clear();
  }
  ups_ = program_.stages.size();
  if (spec_.collective == Collective::reduce_scatter) {
    hand_out(step);
  } else {
    for (std::size_t level = levels_.count(); level > 0; --level) {
      down(level, step++);
      if (level == levels_.relayed()) pass_on_results(step++);
    }
  }
  return std::move(program_);
}

/// A run cut where raw values are apart in the input: at shards' borders.
std::vector<Interval> HalvingBuilder::cut(const Interval& x, bool at_shards) const {
  if (x.empty()) return {};
  if (!at_shards) return {x};
  std::vector<Interval> list;
  for (std::uint64_t begin = x.begin; begin < x.end;) {
    const std::uint64_t end = std::min(x.end, (begin / spec_.count + 1) * spec_.count);
    list.push_back({begin, end});
    begin = end;
  }
  return list;
}

void HalvingBuilder::append(Stage&& stage) {
  const std::uint32_t n = spec_.ranks;
  std::stable_sort(stage.sends.begin(), stage.sends.end(), [&](const Transfer& a, const Transfer& b) {
    return std::pair((a.peer + n - rank_) % n, a.step) < std::pair((b.peer + n - rank_) % n, b.step);
  });
  std::stable_sort(stage.receives.begin(), stage.receives.end(), [&](const Transfer& a, const Transfer& b) {
    return std::pair((rank_ + n - a.peer) % n, a.step) < std::pair((rank_ + n - b.peer) % n, b.step);
  });
  if (stage.sends.empty() && stage.receives.empty()) return;
  if (may_join(stage)) {
    Stage& last = program_.stages.back();
    last.sends.insert(last.sends.end(), stage.sends.begin(), stage.sends.end());
    last.receives.insert(last.receives.end(), stage.receives.begin(), stage.receives.end());
    return;
  }
  program_.stages.push_back(std::move(stage));
}

bool HalvingBuilder::may_join(const Stage& results) const {
  if (program_.stages.empty() || ups_ > program_.stages.size()) return false;
  const Stage& last = program_.stages.back();
  if (program_.stages.size() > ups_) return last.receives.empty() || results.sends.empty();
  // The last sums, for others. In place, what is sent from the input could be overwritten.
  const bool from_scratch = std::all_of(last.sends.begin(), last.sends.end(),
                                        [](const Transfer& t) { return t.region.buffer == Buffer::scratch; });
  return scatters() && last.receives.empty() && from_scratch && results.sends.empty();
}

/// What this rank passes on between the small group and others of its own.
std::vector<HalvingBuilder::Pass> HalvingBuilder::passes(std::size_t level) const {
  std::vector<Pass> list;
  const Block block = levels_.block(level, rank_), small = levels_.block(level - 1, spec_.ranks - 1);
  if (!levels_.is_small(small) || small.has(rank_) || !block.has(small.lo)) return list;
  const std::uint32_t group = spec_.schedule.group, first = rank_ / group * group;
  for (std::uint32_t large = first; large < first + group; ++large) {
    if (large == rank_) continue;
    for_owners(small, levels_.owned(block, large).value_or(Interval{}),
               [&](std::uint32_t from, const Interval& x) {
                 if (levels_.relay(from, large, x.begin) == rank_) list.push_back({from, large, x});
               });
  }
  std::sort(list.begin(), list.end(), [](const Pass& a, const Pass& b) { return a.run.begin < b.run.begin; });
  return list;
}

/// Takes sums of the small group for others of the own group.
void HalvingBuilder::take_for_others(std::size_t level, std::uint32_t step) {
  const Block small = levels_.block(level - 1, spec_.ranks - 1);
  Stage stage;
  for (const Pass& pass : passes(level)) {
    for (const Interval& x : cut(pass.run, small.size() == 1 && apart())) {
      relayed_.push_back({slots_.take(form_of(spec_, small), x.count()), pass.large});
      stage.receives.push_back({relayed_.back().region, pass.small, step});
    }
  }
  append(std::move(stage));
}

void HalvingBuilder::up(std::size_t level, std::uint32_t step) {
  const Block block = levels_.block(level, rank_), before = levels_.block(level - 1, rank_);
  if (!owner_ || block.size() == before.size()) return;
  Stage stage;
  const bool raw = before.size() == 1;
  for_owners(block, held_.run, [&](std::uint32_t owner, const Interval& run) {
    if (owner == rank_) return;
    const std::uint32_t peer = via(before, rank_, owner, run.begin);
    for (const Interval& x : cut(run, raw && apart()))
      stage.sends.push_back({held(x), peer, peer == owner ? step : step - 1});
  });
  for (const Relayed& r : relayed_)
    stage.sends.push_back({r.region, r.to, step});
  const auto own = levels_.owned(block, rank_);
  owner_ = own.has_value();
  if (own && !own->empty()) {
    const std::vector<Block> inside = levels_.inside(block);
    std::vector<Place> received;
    for (const Block& other : inside) {
      if (other.has(rank_)) {
        received.push_back({*own, {}});
        continue;
      }
      received.push_back({*own, slots_.take(form_of(spec_, other), own->count())});
      for_owners(other, *own, [&](std::uint32_t owner, const Interval& run) {
        const std::uint32_t peer = via(other, owner, rank_, run.begin);
        for (const Interval& x : cut(run, other.size() == 1 && apart()))
          stage.receives.push_back({received.back().at(x), peer == rank_ ? owner : peer, step});
      });
    }
    fold(stage, block, *own, inside, received);
  } else {
    held_.run = own.value_or(Interval{});
  }
  append(std::move(stage));
}

Program halving(const Spec& spec, std::uint32_t rank) {
  return HalvingBuilder(spec, rank).build();
}

}  // namespace detccl::plan::schedules
