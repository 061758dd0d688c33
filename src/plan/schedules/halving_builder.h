// SPDX-License-Identifier: Apache-2.0
// One rank's program of halving or hier (see halving.cc), level by level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/schedules/levels.h"
#include "plan/schedules/regions.h"

namespace detccl::plan::schedules {

inline bool covers_block(const Spec& spec, const Block& b) {
  const std::uint32_t block = spec.contract.block;
  return block != 0 && b.lo % block == 0 &&
         b.hi == std::min<std::uint64_t>(std::uint64_t{b.lo} + block, spec.ranks);
}

/// What the sum of a block is when it is sent.
inline Form form_of(const Spec& spec, const Block& block) {
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

/// Makes one rank's program of halving or hier.
class HalvingBuilder {
 public:
  HalvingBuilder(const Spec& spec, std::uint32_t rank)
      : spec_(spec), rank_(rank), levels_(spec), slots_(program_) {
    held_ = {{0, message()}, input(0, message())};
  }

  Program build();

 private:
  bool scatters() const { return spec_.collective == Collective::reduce_scatter; }
  std::uint64_t message() const { return spec_.count * (scatters() ? spec_.ranks : 1); }
  Block top() const { return levels_.block(levels_.count(), rank_); }

  /// A run cut where raw values are apart in the input: at shards' borders.
  std::vector<Interval> cut(const Interval& x, bool at_shards) const;
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
  void append(Stage&& stage);

  /// Whether results can travel with the last stage already: neither needs anything of the other.
  bool may_join(const Stage& results) const;

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

}  // namespace detccl::plan::schedules
