// SPDX-License-Identifier: Apache-2.0
#include "plan/tuner/work.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/schedules/levels.h"

namespace detccl::plan::tuner {
namespace {

using schedules::Block;
using schedules::Levels;

/// The sizes that everything is made of.
struct Sizes {
  Sizes(const Question& q, double bytes)
      : n(q.ranks),
        near(std::min(q.group, q.ranks)),
        payload(bytes),
        partial(bytes / static_cast<double>(contract::size_of(q.type)) *
                static_cast<double>(
                    contract::size_of(contract::accumulation_type(q.type, q.contract.accumulate)))) {}
  double n, near;           ///< ranks; of a group
  double payload, partial;  ///< of the chunk, in either type
};

/// `bytes` between a rank and all others alike.
void to_all(Round& round, const Sizes& s, double bytes) {
  const double others = s.n - 1;
  round.near_bytes = bytes * (s.near - 1) / others;
  round.far_bytes = bytes * (s.n - s.near) / others;
}

/// Everyone's raw values to those who fold `folded` bytes of result: `gather`, and the first half of
/// `direct`.
Round raw_exchange(const Sizes& s, double folded) {
  Round round{.steps = 1, .messages = 2 * (s.n - 1), .folds = 1, .fold_bytes = (s.n + 1) * folded};
  to_all(round, s, (s.n - 1) * folded);
  return round;
}

void direct(const Question& q, const Sizes& s, Work& work) {
  work.rounds.push_back(raw_exchange(s, s.payload / s.n));
  if (q.collective == Collective::reduce_scatter) return;
  Round results{.steps = 1, .messages = 2 * (s.n - 1)};
  to_all(results, s, s.payload * (s.n - 1) / s.n);
  work.rounds.push_back(results);
}

void gather(const Question& q, const Sizes& s, Work& work) {
  const bool scatters = q.collective == Collective::reduce_scatter;
  work.rounds.push_back(raw_exchange(s, scatters ? s.payload / s.n : s.payload));
}

/// A round of a chain, over `near` hops within groups and `far` ones between them.
void hop(Work& work, Round round, double bytes, double near, double far) {
  round.near_bytes = bytes;
  round.times = near;
  if (near > 0) work.rounds.push_back(round);
  round.near_bytes = 0;
  round.far_bytes = bytes;
  round.times = far;
  if (far > 0) work.rounds.push_back(round);
}

/// A reduce sends its results back as far as the root: half of the way, all roots together.
double returned(const Question& q) {
  return q.collective == Collective::all_reduce ? 1 : 0.5;
}

void ring(const Question& q, const Sizes& s, Work& work) {
  const double far = std::floor((s.n - 1) / s.near), near = s.n - 1 - far;
  const double folded = 2 * s.partial + s.payload;
  hop(work, {.steps = 1, .messages = 2, .folds = 1, .fold_bytes = folded}, s.partial, near, far);
  hop(work, {.steps = 1, .messages = 2}, s.payload, near, far);
  Round& busiest = work.busiest;
  busiest = {.steps = 2, .messages = 4, .folds = 1, .fold_bytes = folded};
  const double all = s.partial + s.payload, one = std::max(s.partial, s.payload);
  busiest.near_bytes = far == 0 ? all : near == 0 ? 0 : one;
  busiest.far_bytes = far == 0 ? 0 : near == 0 ? all : one;
  const double part = (s.n - 1) / s.n, sent = s.partial + s.payload * returned(q);
  work.mean = {.steps = 2, .messages = 4 * part, .folds = part, .fold_bytes = folded * part};
  work.mean.near_bytes = busiest.near_bytes / all * sent * part;
  work.mean.far_bytes = busiest.far_bytes / all * sent * part;
}

void tree(const Question& q, const Sizes& s, Work& work) {
  const auto levels = [](double ranks) {
    return static_cast<double>(std::bit_width(static_cast<std::uint32_t>(ranks) - 1));
  };
  const double depth = levels(s.n), near = levels(s.near), far = depth - near;
  const double folded = 3 * s.partial;
  const bool pair = s.n == 2;  // which sends raw values only
  hop(work, {.steps = 1, .messages = 3, .folds = 1, .fold_bytes = folded}, pair ? s.payload : 2 * s.partial,
      near, far);
  const bool down = q.collective == Collective::all_reduce;
  if (down) {
    hop(work, {.steps = 1, .messages = 3}, 2 * s.payload, near, far);
  } else {
    hop(work, {.steps = 1, .messages = 2}, s.payload, far == 0 ? 1 : 0, far == 0 ? 0 : 1);
  }
  Round& busiest = work.busiest;
  busiest = {.steps = 3, .messages = down ? 7.0 : 5.0, .folds = 1, .fold_bytes = folded};
  double most = 2 * s.partial + s.payload;
  if (down) most = std::max(most, s.partial + 3 * s.payload);
  if (s.n == 4) most = std::max(2 * s.partial, down ? 3 * s.payload : 0);
  if (s.n == 3) most = s.partial + (down ? s.payload : 0);
  if (pair) most = s.payload;
  (far == 0 ? busiest.near_bytes : busiest.far_bytes) = most;
  // n/2 leaves and n-2 nodes' sums go up, n-1 results down, or one to the root.
  const double sent = s.payload / 2 + s.partial * (s.n - 2) / s.n + s.payload * (down ? s.n - 1 : 1) / s.n;
  work.mean = {.steps = 2, .messages = down ? 4.0 : 2.0, .folds = 1, .fold_bytes = folded * (s.n - 1) / s.n};
  (far == 0 ? work.mean.near_bytes : work.mean.far_bytes) = sent;
}

/// One level of halving or hier.
class Level {
 public:
  Level(const Question& q, const Sizes& s, const Levels& levels, std::size_t number)
      : s_(s), below_(static_cast<double>(levels.size(number - 1))) {
    const auto above = static_cast<double>(levels.size(number));
    if (s.n >= above) {  // full blocks
      parts_ = above / below_;
      shares_ = below_ * parts_;
      given_ = (parts_ - 1) / shares_;
    }
    const Block last = levels.block(number, q.ranks - 1);
    const Block ragged = levels.block(number - 1, q.ranks - 1);
    const double full = std::floor(last.size() / below_);
    if (last.size() != levels.size(number) && last.size() != ragged.size()) {
      parts_ = std::max(parts_, full);
      if (shares_ == 0) shares_ = below_ * full;
      given_ = std::max(given_, (full - 1) / (below_ * full));
      // Its owners give all that they have.
      if (ragged.size() != levels.size(number - 1)) {
        const auto owners = static_cast<double>(levels.parts(ragged));
        given_ = std::max(given_, 1 / owners);
        fan_out_ = full * below_ / owners;
      }
    }
    const double reach = std::min(above, s.n);
    near_part_ = reach <= s.near    ? 1
                 : below_ >= s.near ? 0
                                    : (s.near / below_ - 1) / std::max(reach / below_ - 1, 1.0);
    const bool rounded = below_ == 1 || below_ == q.contract.block;
    width_ = rounded ? s.payload : s.partial;
  }

  Round up(bool top) const {
    Round round = moving(width_);
    round.folds = 1;
    round.fold_bytes = (operands() * width_ + (top ? s_.payload : s_.partial)) / shares_;
    return round;
  }
  Round down() const { return moving(s_.payload); }
  double operands() const { return std::max(parts_, 1.0) + (fan_out_ > 0 ? 1 : 0); }

 private:
  Round moving(double width) const {
    Round round{.steps = 1, .messages = 2 * std::max(parts_ - 1, 0.0) + fan_out_};
    round.near_bytes = given_ * width * near_part_;
    round.far_bytes = given_ * width * (1 - near_part_);
    return round;
  }

  const Sizes& s_;
  double below_;
  double parts_ = 0;    ///< full blocks of the level below that make up one of this
  double shares_ = 0;   ///< that such a block's sum is cut into
  double given_ = 0;    ///< of the message, by the rank that gives most
  double fan_out_ = 0;  ///< receivers of what a ragged block's owner has
  double near_part_, width_ = 0;
};

void halving(const Question& q, const Schedule& schedule, const Sizes& s, Work& work) {
  const bool scatters = q.collective == Collective::reduce_scatter;
  Spec spec;
  spec.collective = q.collective;
  spec.contract = q.contract;
  spec.schedule = schedule;
  spec.ranks = q.ranks;
  spec.count = spec.stride = q.bytes / contract::size_of(q.type) / (scatters ? q.ranks : 1) + 1;
  const Levels levels(spec);
  for (std::size_t level = 1; level <= levels.count(); ++level) {
    if (level == levels.relayed()) work.rounds.push_back({.steps = 1, .messages = 1});
    const Level one(q, s, levels, level);
    work.rounds.push_back(one.up(level == levels.count()));
    // Where a chunk's shards are apart in the input, raw values go shard by shard.
    const bool apart = scatters && level == 1 && s.payload < static_cast<double>(q.bytes);
    if (apart) work.rounds.back().messages *= std::ceil(s.n / one.operands());
  }
  if (scatters) {
    Round shards{.steps = 1, .messages = 2};
    (s.near == s.n ? shards.near_bytes : shards.far_bytes) = s.payload / s.n;
    work.rounds.push_back(shards);
    return;
  }
  for (std::size_t level = levels.count(); level > 0; --level) {
    work.rounds.push_back(Level(q, s, levels, level).down());
    if (level == levels.relayed()) work.rounds.push_back({.steps = 1, .messages = 1});
  }
}

}  // namespace

Work work(const Question& question, const Schedule& schedule, double bytes) {
  Work work;
  const bool scatters = question.collective == Collective::reduce_scatter;
  work.chained = schedule.kind == Kind::ring || schedule.kind == Kind::tree;
  if (question.ranks < 2) return work;
  if (work.chained && scatters) work.pieces = question.ranks;
  const Sizes sizes(question, bytes / work.pieces);
  switch (schedule.kind) {
    case Kind::gather:
      gather(question, sizes, work);
      break;
    case Kind::direct:
      direct(question, sizes, work);
      break;
    case Kind::ring:
      ring(question, sizes, work);
      break;
    case Kind::tree:
      tree(question, sizes, work);
      break;
    case Kind::halving:
    case Kind::hier:
      halving(question, schedule, sizes, work);
      break;
  }
  return work;
}

}  // namespace detccl::plan::tuner
