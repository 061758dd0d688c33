// SPDX-License-Identifier: Apache-2.0
#include "plan/schedules/levels.h"

#include <algorithm>
#include <bit>

namespace detccl::plan::schedules {
namespace {

/// With a wide contract the lowest level of halving is of so many ranks, which exchange raw values: partials
/// can be twice as long, so the sooner they are short the better.
constexpr std::uint64_t kRawRanks = 8;

/// Vectors and cache lines stay whole where parts are long.
constexpr std::uint64_t kGrain = 16;

}  // namespace

Levels::Levels(const Spec& spec)
    : ranks_(spec.ranks),
      group_(spec.schedule.kind == Kind::hier ? spec.schedule.group : 1),
      count_(spec.count),
      units_(spec.count) {
  if (spec.collective == Collective::reduce_scatter) {
    count_ = spec.count * spec.ranks;
    grain_ = spec.count;
    units_ = spec.ranks;
  } else if (spec.count / spec.ranks >= 4 * kGrain) {
    grain_ = kGrain;
    units_ = spec.count / kGrain + (spec.count % kGrain != 0 ? 1 : 0);
  }
  const std::uint64_t all = std::bit_ceil(std::uint64_t{spec.ranks});
  const bool wide = spec.contract.accumulate == contract::Accumulate::wide;
  const auto reach = [&](Kind kind, std::uint64_t end) {
    if (kind == Kind::direct) {
      join(end);
    } else {
      halve(end, spec.schedule.radix, wide);
    }
  };
  if (spec.schedule.kind == Kind::hier) reach(spec.schedule.inner, std::min<std::uint64_t>(group_, all));
  reach(spec.schedule.kind == Kind::hier ? spec.schedule.outer : Kind::halving, all);
  relayed_ = find_relayed();
}

void Levels::join(std::uint64_t end) {
  if (sizes_.back() < end) sizes_.push_back(end);
}

/// In as few levels as the radix allows, all of about the same factor, the smaller ones first.
void Levels::halve(std::uint64_t end, std::uint32_t radix, bool raw_first) {
  if (sizes_.size() == 1 && raw_first && end > 1)
    sizes_.push_back(std::min(std::max<std::uint64_t>(kRawRanks, radix), end));
  const auto doublings = [](std::uint64_t factor) {
    return static_cast<unsigned>(std::bit_width(factor)) - 1;
  };
  const unsigned most = doublings(radix);
  while (sizes_.back() < end) {
    const unsigned left = doublings(end / sizes_.back()), levels = (left + most - 1) / most;
    sizes_.push_back(sizes_.back() << (left / levels));
  }
}

Block Levels::block(std::size_t level, std::uint32_t rank) const {
  const std::uint64_t size = sizes_[level], lo = rank / size * size;
  return {level, static_cast<std::uint32_t>(lo),
          static_cast<std::uint32_t>(std::min<std::uint64_t>(lo + size, ranks_))};
}

std::size_t Levels::find_relayed() const {
  for (std::size_t level = 1; level <= count(); ++level) {
    const std::uint32_t before = block(level - 1, ranks_ - 1).size();
    const bool joins = before < block(level, ranks_ - 1).size();
    if (joins && before < group_ && sizes_[level - 1] >= group_) return level;
  }
  return 0;
}

/// `small` may talk to so many ranks of each full group that it stays within its bound. What it has is on
/// some rails, in the order of the message; these are divided among them.
std::uint32_t Levels::relay(std::uint32_t small, std::uint32_t large, std::uint64_t element) const {
  const Block joined = block(relayed_, small), last = block(relayed_ - 1, small);
  const std::uint64_t groups = (ranks_ + group_ - 1) / group_, full = (joined.size() - last.size()) / group_;
  const std::uint64_t allowed = (group_ + groups - last.size()) / full;
  const auto level =
      static_cast<std::size_t>(std::find(sizes_.begin(), sizes_.end(), group_) - sizes_.begin());
  const Block group = block(level, large);
  const Interval has = owned(last, small).value();
  const std::uint64_t first = part_at(group, has.begin), rails = part_at(group, has.end - 1) + 1 - first;
  if (rails <= allowed) return large;
  const std::uint64_t which = (part_at(group, element) - first) * allowed / rails;
  const std::uint64_t begin = (which * rails + allowed - 1) / allowed;
  const std::uint64_t end = ((which + 1) * rails + allowed - 1) / allowed;
  return owner(group, first + begin + small % (end - begin));
}

std::vector<Block> Levels::inside(const Block& block) const {
  std::vector<Block> list;
  for (std::uint64_t lo = block.lo; lo < block.hi; lo += sizes_[block.level - 1])
    list.push_back(this->block(block.level - 1, static_cast<std::uint32_t>(lo)));
  return list;
}

std::uint64_t Levels::parts(const Block& block) const {
  if (block.level == 0) return 1;
  if (is_only(block)) return parts(only(block));
  const std::uint64_t size = sizes_[block.level - 1];
  return block.size() / size * size;
}

std::uint32_t Levels::owner(const Block& block, std::uint64_t number) const {
  if (block.level == 0) return block.lo;
  if (is_only(block)) return owner(only(block), number);
  const std::uint64_t size = sizes_[block.level - 1], full = block.size() / size;
  const auto lo = static_cast<std::uint32_t>(block.lo + number % full * size);
  return owner({block.level - 1, lo, static_cast<std::uint32_t>(lo + size)}, number / full);
}

std::optional<std::uint64_t> Levels::number(const Block& block, std::uint32_t rank) const {
  if (block.level == 0) return 0;
  if (is_only(block)) return number(only(block), rank);
  const std::uint64_t size = sizes_[block.level - 1], full = block.size() / size;
  const std::uint64_t which = (rank - block.lo) / size;
  if (which >= full) return std::nullopt;
  // Every rank of a full block is an owner.
  return number(this->block(block.level - 1, rank), rank).value() * full + which;
}

std::uint64_t Levels::begin(std::uint64_t parts, std::uint64_t number) const {
  // number * units_ / parts without overflow: both factors of the second product are below 2^31.
  const std::uint64_t units = number * (units_ / parts) + number * (units_ % parts) / parts;
  return std::min(count_, units * grain_);
}

Interval Levels::part(const Block& block, std::uint64_t number) const {
  const std::uint64_t all = parts(block);
  return {begin(all, number), begin(all, number + 1)};
}

std::optional<Interval> Levels::owned(const Block& block, std::uint32_t rank) const {
  const auto which = number(block, rank);
  if (!which) return std::nullopt;
  return part(block, *which);
}

std::uint64_t Levels::part_at(const Block& block, std::uint64_t element) const {
  const std::uint64_t all = parts(block);
  std::uint64_t low = 0, high = all;  // begin(low) <= element < begin(high)
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (begin(all, middle) <= element ? low : high) = middle;
  }
  return low;
}

}  // namespace detccl::plan::schedules
