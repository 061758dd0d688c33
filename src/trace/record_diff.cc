// SPDX-License-Identifier: Apache-2.0
#include "trace/record_diff.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace detccl::trace {
namespace {

// Records that are read on after a difference, to see what it is and whether another one came before it.
constexpr std::uint64_t kReadOn = 20000;
constexpr std::uint64_t kMaxWaiting = 400000;  // 50 MB

/// One trace's side.
struct Side {
  RankCursor* cursor = nullptr;
  bool ended = false;
  std::uint64_t read = 0;

  /// A row that is at its end here has nothing more.
  bool complete() const { return ended && cursor->whole(); }
};

/// What waits for the other side, of one communicator.
struct Lane {
  std::deque<Placed> a, b;

  bool differs() const { return !a.empty() && !b.empty(); }
};

class Comparison {
 public:
  Comparison(RankCursor& a, RankCursor& b) : a_{&a}, b_{&b} {}

  RecordDiff run() {
    while (!finished()) {
      // The side that is behind, so that little waits.
      const bool of_a = !a_.ended && (b_.ended || a_.read <= b_.read);
      read(of_a ? a_ : b_, of_a);
    }
    RecordDiff result;
    result.compared = compared_;
    result.ended_a = a_.ended;
    result.ended_b = b_.ended;
    result.gave_up = waiting_ > kMaxWaiting;
    result.first = first();
    const auto none_waits = [this](std::deque<Placed> Lane::*row) {
      return std::all_of(lanes_.begin(), lanes_.end(),
                         [row](const auto& l) { return (l.second.*row).empty(); });
    };
    result.a_over = a_.complete() && none_waits(&Lane::a);
    result.b_over = b_.complete() && none_waits(&Lane::b);
    return result;
  }

 private:
  bool finished() const {
    if (a_.ended && b_.ended) return true;
    if (waiting_ > kMaxWaiting || settled()) return true;
    const std::uint64_t behind = std::min(a_.ended ? b_.read : a_.read, b_.ended ? a_.read : b_.read);
    if (seen_ && behind > seen_at_ + kReadOn) return true;
    // One side broke off, and the other has caught up.
    return (a_.ended && !a_.cursor->whole() && b_.read > a_.read + kReadOn) ||
           (b_.ended && !b_.cursor->whole() && a_.read > b_.read + kReadOn);
  }

  /// Whether the earliest difference is certain: nothing that waits is older, and enough is there to say what
  /// it is.
  bool settled() const {
    if (!seen_) return false;
    const Lane* earliest = nullptr;
    std::uint64_t earliest_place = ~std::uint64_t{0}, oldest_waiting = ~std::uint64_t{0};
    for (const auto& [key, lane] : lanes_) {
      if (lane.a.empty() && lane.b.empty()) continue;
      const std::uint64_t place = (lane.a.empty() ? lane.b : lane.a).front().order;
      if (!lane.differs()) {
        oldest_waiting = std::min(oldest_waiting, place);
      } else if (place < earliest_place) {
        earliest_place = place;
        earliest = &lane;
      }
    }
    return earliest != nullptr && earliest_place < oldest_waiting &&
           (a_.ended || earliest->a.size() >= kLookahead) && (b_.ended || earliest->b.size() >= kLookahead);
  }

  void read(Side& side, bool of_a) {
    if (!side.cursor->next(batch_)) {
      side.ended = true;
      return;
    }
    for (const RankRecord& r : batch_) {
      put(r, of_a, side.read++);
    }
  }

  void put(const RankRecord& r, bool of_a, std::uint64_t order) {
    Lane& lane = lanes_[r.record.communicator];
    std::deque<Placed>&mine = of_a ? lane.a : lane.b, &other = of_a ? lane.b : lane.a;
    // The usual case: the other side waits for this one.
    if (mine.empty() && !other.empty() && same_content(other.front().record, r.record)) {
      other.pop_front();
      --waiting_;
      ++compared_;
      return;
    }
    mine.push_back({r.record, r.part, order});
    ++waiting_;
    if (lane.differs() && !seen_) {
      seen_ = true;
      seen_at_ = order;
    }
  }

  /// The first difference of a lane, where it is certain.
  std::optional<FirstDifference> of(const Lane& lane) const {
    if (lane.a.empty() && lane.b.empty()) return std::nullopt;
    if (lane.a.empty() && !a_.complete()) return std::nullopt;
    if (lane.b.empty() && !b_.complete()) return std::nullopt;
    FirstDifference first;
    first.difference = align(lane.a, lane.b);
    if (!lane.a.empty() && first.difference != Difference::extra) first.a = lane.a.front();
    if (!lane.b.empty() && first.difference != Difference::missing) first.b = lane.b.front();
    return first;
  }

  std::optional<FirstDifference> first() const {
    std::optional<FirstDifference> earliest;
    for (const auto& [key, lane] : lanes_) {
      auto found = of(lane);
      if (found && (!earliest || place(*found) < place(*earliest))) earliest = std::move(found);
    }
    return earliest;
  }

  static std::uint64_t place(const FirstDifference& d) { return d.a ? d.a->order : d.b->order; }

  Side a_, b_;
  std::unordered_map<std::uint64_t, Lane> lanes_;
  std::vector<RankRecord> batch_;
  std::uint64_t waiting_ = 0, compared_ = 0, seen_at_ = 0;
  bool seen_ = false;
};

}  // namespace

RecordDiff diff_records(RankCursor& a, RankCursor& b) {
  return Comparison(a, b).run();
}

}  // namespace detccl::trace
