// SPDX-License-Identifier: Apache-2.0
// How halving and hier arrange ranks and message. Aligned blocks of ranks lie one inside the other, level by
// level, each level's size a power of two; the last block of a level may be smaller (ragged). Every block has
// the sum of its ranks, cut into parts that different ranks of the block own:
// - a single rank owns all of its own input;
// - where several blocks of one level make up a block of the next, each owner in the full ones cuts its part
//   into as many as there are full ones and keeps the one of its own block's number. Owners in a last, ragged
//   block own nothing any more.
// So what an owner keeps is always within what it had, and owners in a full block of 2^k have 1/2^k each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace detccl::plan::schedules {

/// Elements [begin, end) of the message; in a reduce_scatter, of all shards one after the other.
struct Interval {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t count() const { return end - begin; }
  bool empty() const { return begin >= end; }
};

/// Ranks [lo, hi) as a block of level `level`; level 0: a single rank.
struct Block {
  std::size_t level = 0;
  std::uint32_t lo = 0, hi = 0;
  std::uint32_t size() const { return hi - lo; }
  bool has(std::uint32_t rank) const { return lo <= rank && rank < hi; }
};

class Levels {
 public:
  explicit Levels(const Spec& spec);

  /// Levels above the single ranks; the block of the last one is all ranks.
  std::size_t count() const { return sizes_.size() - 1; }
  /// Ranks of a full block of `level`.
  std::uint64_t size(std::size_t level) const { return sizes_[level]; }
  Block block(std::size_t level, std::uint32_t rank) const;
  /// hier: the level in which a last group that is not full joins others, or 0. Its ranks have to do with
  /// owners of every rail there. So that no rank talks to more than a group has ranks and there are groups,
  /// some of that is passed on within the full groups.
  std::size_t relayed() const { return relayed_; }
  /// Whether `block`, of the level below relayed(), is that group.
  bool is_small(const Block& block) const {
    return relayed_ != 0 && block.level + 1 == relayed_ && block.hi == ranks_;
  }
  /// Through which rank of the group of `large`, perhaps itself, it exchanges what begins at `element` with
  /// `small`, a rank of the last group.
  std::uint32_t relay(std::uint32_t small, std::uint32_t large, std::uint64_t element) const;
  /// The blocks of the level below that make up `block`, which is not of level 0.
  std::vector<Block> inside(const Block& block) const;

  /// Parts into which the sum of a block is cut.
  std::uint64_t parts(const Block& block) const;
  Interval part(const Block& block, std::uint64_t number) const;
  std::uint32_t owner(const Block& block, std::uint64_t number) const;
  /// What `rank`, one of the block's, owns of it; may be empty, for a short message. Nothing: it is no owner.
  std::optional<Interval> owned(const Block& block, std::uint32_t rank) const;
  /// The number of the part that has `element`.
  std::uint64_t part_at(const Block& block, std::uint64_t element) const;

 private:
  void halve(std::uint64_t end, std::uint32_t radix, bool raw_first);
  void join(std::uint64_t end);
  std::size_t find_relayed() const;
  std::optional<std::uint64_t> number(const Block& block, std::uint32_t rank) const;
  std::uint64_t begin(std::uint64_t parts, std::uint64_t number) const;
  /// The only block of the level below that `block` consists of.
  Block only(const Block& block) const { return {block.level - 1, block.lo, block.hi}; }
  bool is_only(const Block& block) const { return block.size() <= sizes_[block.level - 1]; }

  std::uint32_t ranks_, group_;
  std::uint64_t count_, grain_ = 1, units_;  ///< the message is cut at multiples of `grain_` elements
  std::vector<std::uint64_t> sizes_{1};
  std::size_t relayed_ = 0;
};

}  // namespace detccl::plan::schedules
