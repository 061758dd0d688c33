// SPDX-License-Identifier: Apache-2.0
#include "trace/causes.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trace/folder.h"
#include "trace/hash.h"

namespace detccl::trace {
namespace {

/// Those that want to know who gave data to an operation, by the operation.
using Instances = std::unordered_map<std::uint64_t, std::vector<std::size_t>>;

/// The same number on all ranks that take part, for the same operation. `rank`: in the communicator.
std::uint64_t instance(const Record& record, std::uint32_t part, std::uint32_t rank) {
  Hash hash;
  hash.add(record.communicator);
  hash.add(record.communicator_sequence);
  hash.add(part);
  const bool sends = record.kind == Kind::send, p2p = is_p2p(static_cast<std::uint8_t>(record.kind));
  hash.add(p2p ? 1 : 0);
  if (p2p) {
    hash.add(sends ? rank : record.peer);
    hash.add(sends ? record.peer : rank);
  }
  return hash.value().low;
}

/// Whether this rank's data goes to others.
bool gives(const Record& record, std::uint32_t rank) {
  switch (record.kind) {
    case Kind::broadcast:
    case Kind::scatter:
      return record.peer == rank;
    case Kind::recv:
      return false;
    default:
      return (record.flags & kNoInput) == 0;
  }
}

bool can_follow(const Candidate& c) {
  return c.difference == Difference::outputs_differ && c.communicator.has_value();
}

std::uint64_t when(std::uint32_t step) {
  return step == kNoStep ? 0 : std::uint64_t{step} + 1;
}

RankCursor cursor_at(const RankTrace& trace, const RankRecord& place) {
  if (const auto entries = trace.entries()) {
    const auto at = std::find_if(entries->begin(), entries->end(), [&](const RankEntry& e) {
      return e.part == place.part && e.rollup.step == place.record.step;
    });
    if (at != entries->end()) return RankCursor(trace, *at);
  }
  return RankCursor(trace);
}

class Search {
 public:
  Search(std::vector<Finding>& findings, const OpenRank& open) : findings_(findings), open_(open) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const Candidate& c = findings[i].candidate;
      if (!can_follow(c)) continue;
      instances_[instance(c.a->record, c.a->part, c.communicator->rank)].push_back(i);
      last_ = std::max(last_, when(c.step()));
    }
  }

  bool needed() const { return !instances_.empty(); }

  /// Tells the others which operations this rank gave data to since it differs.
  void spread(std::size_t giver) {
    const Candidate& c = findings_[giver].candidate;
    const RankRecord& start = c.a ? *c.a : *c.b;
    if (when(start.record.step) > last_) return;
    const auto trace = open_(c.rank);
    if (!trace) return;
    std::unordered_map<std::uint64_t, std::uint32_t> ranks;  // of communicators
    for (const auto& part : trace->parts()) {
      for (const Communicator& communicator : part->tables().communicators) {
        ranks[communicator.key] = communicator.rank;
      }
    }
    RankCursor cursor = cursor_at(*trace, start);
    std::vector<RankRecord> records;
    while (cursor.next(records)) {
      for (const RankRecord& r : records) {
        const auto place = std::tie(r.part, r.record.sequence);
        const auto begin = std::tie(start.part, start.record.sequence);
        if (place < begin || (place == begin && c.difference == Difference::outputs_differ)) continue;
        if (when(r.record.step) > last_) return;
        const auto rank = ranks.find(r.record.communicator);
        if (rank != ranks.end() && gives(r.record, rank->second)) note(giver, r, rank->second);
      }
    }
  }

 private:
  void note(std::size_t giver, const RankRecord& r, std::uint32_t rank) {
    const auto found = instances_.find(instance(r.record, r.part, rank));
    if (found == instances_.end()) return;
    const std::scoped_lock lock(mutex_);
    for (const std::size_t follower : found->second) {
      std::optional<std::uint32_t>& follows = findings_[follower].follows;
      if (follower == giver) continue;
      // Any will do; the smallest, for the same answer every time.
      const std::uint32_t by = findings_[giver].candidate.rank;
      follows = follows ? std::min(*follows, by) : by;
    }
  }

  std::vector<Finding>& findings_;
  const OpenRank& open_;
  Instances instances_;
  std::uint64_t last_ = 0;
  std::mutex mutex_;
};

}  // namespace

std::vector<Finding> find_causes(std::vector<Candidate> candidates, const OpenRank& open) {
  std::vector<Finding> findings;
  findings.reserve(candidates.size());
  for (Candidate& c : candidates) {
    findings.push_back({std::move(c), {}});
  }
  Search search(findings, open);
  if (search.needed()) {
    in_parallel(findings.size(), [&search](std::size_t i) { search.spread(i); });
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& x, const Finding& y) {
    const auto key = [](const Finding& f) {
      return std::tuple(!f.is_cause(), when(f.candidate.step()), f.candidate.operation().sequence,
                        f.candidate.rank);
    };
    return key(x) < key(y);
  });
  return findings;
}

}  // namespace detccl::trace
