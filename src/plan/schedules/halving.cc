// SPDX-License-Identifier: Apache-2.0
// halving and hier (`tree` only): sums of aligned blocks of ranks, every block's made of those of the blocks
// inside it, each owner keeping less and less of the message (levels.h). Level by level an owner sends the
// others of its block what they keep of its part, gets what it keeps of theirs, and folds. The owners of all
// ranks' block have the result, which goes back the same way, level by level.
//
// Levels: halving doubles the blocks (distance 1, 2, 4 …); with a wide contract it begins with raw values
// among 8 ranks. hier(a,b)/g goes from 1 to g ranks by a and on to all by b: direct is one level, halving one
// per doubling. Rank i of a full block of g then talks to rank i of the others: rails.
//
// n ranks, L levels, S the message (reduce_scatter: all shards) in payload bytes, P in the accumulation type.
// For n a power of two and halving, per rank:
//
//                   steps   sent and received                               peers                   scratch
//   all_reduce      2 L     2 S (n-1)/n; wide: 15/8 S + (1/8 - 1/n)(P - S)… see docs/plans.md       S + P
//   reduce          2 L     at most S + S/2 sent, root S (n-1)/n + S received                       S + P
//   reduce_scatter  L + 1   as the first half of an all_reduce, and a shard
//
// Ragged n: an owner in a ragged block gives all it has to owners in the full ones, and gets it back. Nobody
// sends or receives more than 2 S then (for P = S).
// Summation order: the contract's tree, block by block. With blocks of B a block's sum is rounded where it is
// complete; sums of several blocks are partials.
#include <algorithm>
#include <utility>

#include "plan/schedules/levels.h"
#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {
namespace {

bool covers_block(const Spec& spec, const Block& b) {
  const std::uint32_t block = spec.contract.block;
  return block != 0 && b.lo % block == 0 &&
         b.hi == std::min<std::uint64_t>(std::uint64_t{b.lo} + block, spec.ranks);
}

/// What the sum of a block is when it is sent.
Form form_of(const Spec& spec, const Block& block) {
  if (block.size() == 1) return Form::raw;
  return covers_block(spec, block) ? Form::rounded : Form::partial;
}

/// A run of the message in memory: `region` is all of it.
struct Place {
  Interval run;
  Region region;

  Region at(const Interval& x) const {
    Region part = region;
    part.offset += x.begin - run.begin;
    part.count = x.count();
    return part;
  }
};

/// Scratch slots of a program that are used again, each by one thing at a time.
class Slots {
 public:
  explicit Slots(Program& program) : program_(program) {}

  Region take(Form form, std::uint64_t count) {
    const auto fits = [&](std::uint32_t slot) {
      return program_.slots[slot].form == form && program_.slots[slot].elements >= count;
    };
    const auto found = std::find_if(free_.begin(), free_.end(), fits);
    if (found == free_.end()) return scratch(program_, form, count);
    const std::uint32_t slot = *found;
    free_.erase(found);
    return {0, count, slot, Buffer::scratch, form};
  }
  void give_back(const Region& region) {
    if (region.buffer == Buffer::scratch) free_.push_back(region.slot);
  }

 private:
  Program& program_;
  std::vector<std::uint32_t> free_;
};

class Builder {
 public:
  Builder(const Spec& spec, std::uint32_t rank) : spec_(spec), rank_(rank), levels_(spec), slots_(program_) {
    held_ = {{0, message()}, input(0, message())};
  }

  Program build() {
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

 private:
  bool scatters() const { return spec_.collective == Collective::reduce_scatter; }
  std::uint64_t message() const { return spec_.count * (scatters() ? spec_.ranks : 1); }
  Block top() const { return levels_.block(levels_.count(), rank_); }

  /// A run cut where raw values are apart in the input: at shards' borders.
  std::vector<Interval> cut(const Interval& x, bool at_shards) const {
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
  bool apart() const { return scatters() && spec_.stride != spec_.count; }

  /// Where what is held of a run is; the run lies in one piece.
  Region held(const Interval& x) const {
    if (held_.region.buffer != Buffer::input || !apart()) return held_.at(x);
    return input(x.begin / spec_.count * spec_.stride + x.begin % spec_.count, x.count());
  }

  /// Calls use(owner, run) for what each owner of `block` has of `x`.
  template <class Use>
  void for_owners(const Block& block, const Interval& x, const Use& use) const {
    if (x.empty()) return;
    for (std::uint64_t p = levels_.part_at(block, x.begin); p < levels_.parts(block); ++p) {
      const Interval part = levels_.part(block, p);
      if (part.begin >= x.end) return;
      const Interval both{std::max(part.begin, x.begin), std::min(part.end, x.end)};
      if (!both.empty()) use(levels_.owner(block, p), both);
    }
  }

  /// Through whom `small`, a rank of a last group that is not full, and `large`, one of a full group,
  /// exchange what begins at `element`.
  std::uint32_t via(const Block& group, std::uint32_t small, std::uint32_t large,
                    std::uint64_t element) const {
    return levels_.is_small(group) ? levels_.relay(small, large, element) : large;
  }
  struct Pass {
    std::uint32_t small, large;
    Interval run;
  };
  std::vector<Pass> passes(std::size_t level) const;

  /// Everyone starts at its successor, so that no rank is everybody's first destination.
  void append(Stage&& stage) {
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

  /// Whether results can travel with the last stage already: neither needs anything of the other.
  bool may_join(const Stage& results) const {
    if (program_.stages.empty() || ups_ > program_.stages.size()) return false;
    const Stage& last = program_.stages.back();
    if (program_.stages.size() > ups_) return last.receives.empty() || results.sends.empty();
    // The last sums, for others. In place, what is sent from the input could be overwritten.
    const bool from_scratch = std::all_of(last.sends.begin(), last.sends.end(), [](const Transfer& t) {
      return t.region.buffer == Buffer::scratch;
    });
    return scatters() && last.receives.empty() && from_scratch && results.sends.empty();
  }

  void up(std::size_t level, std::uint32_t step);
  void fold(Stage& stage, const Block& block, const Interval& own, const std::vector<Block>& inside,
            const std::vector<Place>& received);
  void down(std::size_t level, std::uint32_t step);
  void take_for_others(std::size_t level, std::uint32_t step);
  void pass_on_results(std::uint32_t step);
  void hand_out(std::uint32_t step);

  void place_results();
  Region result(const Interval& x);

  const Spec& spec_;
  const std::uint32_t rank_;
  const Levels levels_;
  Program program_;
  Slots slots_;
  Place held_;                         ///< what the rank owns of its block's sum
  bool owner_ = true;                  ///< whether it owns anything
  std::size_t ups_ = ~std::size_t{0};  ///< stages before results travel
  Place results_;                      ///< where results go; reduce_scatter: without use
  std::vector<std::pair<std::uint64_t, Region>> passed_on_;  ///< reduce_scatter: others' shards
  struct Relayed {
    Region region;
    std::uint32_t to;
  };
  std::vector<Relayed> relayed_;  ///< to be passed on in the next step
};

/// What this rank passes on between the small group and others of its own.
std::vector<Builder::Pass> Builder::passes(std::size_t level) const {
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
void Builder::take_for_others(std::size_t level, std::uint32_t step) {
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

/// Results of others of the own group to the small one.
void Builder::pass_on_results(std::uint32_t step) {
  Stage stage;
  for (const Relayed& r : relayed_)
    stage.sends.push_back({r.region, r.to, step});
  append(std::move(stage));
}

void Builder::up(std::size_t level, std::uint32_t step) {
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

void Builder::fold(Stage& stage, const Block& block, const Interval& own, const std::vector<Block>& inside,
                   const std::vector<Place>& received) {
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

/// Where the rank needs room for results: for the most that it ever has of them.
void Builder::place_results() {
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

Region Builder::result(const Interval& x) {
  if (!scatters()) return results_.at(x);
  const std::uint64_t shard = x.begin / spec_.count;
  if (shard == rank_) return output(0, spec_.count);
  passed_on_.emplace_back(shard, scratch(program_, Form::final, spec_.count));
  return passed_on_.back().second;
}

/// Results from the owners of the block to those in the blocks inside it; in a reduce only on the root's way.
void Builder::down(std::size_t level, std::uint32_t step) {
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

/// Every owner's results to the ranks whose shards they are.
void Builder::hand_out(std::uint32_t step) {
  Stage stage;
  for (const auto& [shard, region] : passed_on_)
    stage.sends.push_back({region, static_cast<std::uint32_t>(shard), step});
  for_owners(top(), {rank_ * spec_.count, (rank_ + std::uint64_t{1}) * spec_.count},
             [&](std::uint32_t owner, const Interval&) {
               if (owner != rank_) stage.receives.push_back({output(0, spec_.count), owner, step});
             });
  append(std::move(stage));
}

}  // namespace

Program halving(const Spec& spec, std::uint32_t rank) {
  return Builder(spec, rank).build();
}

}  // namespace detccl::plan::schedules
