// SPDX-License-Identifier: Apache-2.0
#include "trace/rank_diff.h"

#include <algorithm>
#include <utility>

#include "trace/record_diff.h"

namespace detccl::trace {
namespace {

using Entries = std::vector<RankEntry>;

bool same(const RollupEntry& a, const RollupEntry& b) {
  return a.step == b.step && a.count == b.count && a.sum == b.sum;
}

void cut(Entries& entries, std::uint32_t until) {
  std::erase_if(entries,
                [until](const RankEntry& e) { return e.rollup.step != kNoStep && e.rollup.step > until; });
}

struct StepRollup {
  std::uint32_t step = 0;
  std::uint64_t count = 0;
  Digest sum;
};

std::vector<StepRollup> by_step(const Entries& entries) {
  std::vector<StepRollup> steps;
  for (const RankEntry& e : entries) {
    if (steps.empty() || steps.back().step != e.rollup.step) steps.push_back({e.rollup.step, 0, {}});
    steps.back().count += e.rollup.count;
    add(steps.back().sum, e.rollup.sum);
  }
  return steps;
}

/// Position in time: what comes before the first step is before all.
std::uint64_t when(std::uint32_t step) {
  return step == kNoStep ? 0 : std::uint64_t{step} + 1;
}

std::vector<StepAgreement> agreement(const Entries& entries_a, const Entries& entries_b) {
  const auto a = by_step(entries_a), b = by_step(entries_b);
  std::vector<StepAgreement> steps;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && when(a[i].step) < when(b[j].step))) {
      steps.push_back({a[i++].step, Agreement::only_a, true});
    } else if (i == a.size() || when(b[j].step) < when(a[i].step)) {
      steps.push_back({b[j++].step, Agreement::only_b, false});
    } else {
      const bool equal = a[i].count == b[j].count && a[i].sum == b[j].sum;
      const bool more_in_a = a[i].count > b[j].count;
      steps.push_back({a[i++].step, equal ? Agreement::same : Agreement::different, more_in_a});
      ++j;
    }
  }
  return steps;
}

std::uint64_t records_in(const Entries& entries, std::size_t first) {
  std::uint64_t records = 0;
  for (std::size_t i = 0; i < first; ++i) {
    records += entries[i].rollup.count;
  }
  return records;
}

std::vector<ByteRange> differing_chunks(const ChunkTable& a, const ChunkTable& b) {
  std::vector<ByteRange> ranges;
  if (a.chunk_bytes != b.chunk_bytes || a.digests.size() != b.digests.size()) return ranges;
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    if (a.digests[i] == b.digests[i]) continue;
    const std::uint64_t begin = i * a.chunk_bytes, end = std::min(begin + a.chunk_bytes, a.bytes);
    if (!ranges.empty() && ranges.back().end == begin) {
      ranges.back().end = end;
    } else {
      ranges.push_back({begin, end});
    }
  }
  return ranges;
}

std::vector<ByteRange> ranges_of(const RankTrace& a, const RankTrace& b, const Candidate& c) {
  if (c.difference != Difference::inputs_differ && c.difference != Difference::outputs_differ) return {};
  const bool output = c.difference == Difference::outputs_differ;
  const auto tables_a = a.parts()[c.a->part]->chunk_tables(c.a->record.sequence);
  const auto tables_b = b.parts()[c.b->part]->chunk_tables(c.b->record.sequence);
  for (const ChunkTable& table_a : tables_a) {
    for (const ChunkTable& table_b : tables_b) {
      if (table_a.is_output == output && table_b.is_output == output)
        return differing_chunks(table_a, table_b);
    }
  }
  return {};
}

Candidate make_candidate(const RankTrace& a, const RankTrace& b, const FirstDifference& first) {
  Candidate c;
  c.rank = a.run().rank;
  c.difference = first.difference;
  if (first.a) c.a = RankRecord{first.a->record, first.a->part};
  if (first.b) c.b = RankRecord{first.b->record, first.b->part};
  const RankTrace& its = c.a ? a : b;
  const Tables tables = its.parts()[c.a ? c.a->part : c.b->part]->tables();
  c.phase = tables.string(c.operation().phase);
  if (const Communicator* communicator = tables.communicator(its.original(c.operation().communicator))) {
    c.communicator = *communicator;
  }
  c.ranges = ranges_of(a, b, c);
  return c;
}

void note_end(RankDiff& diff, const RankCursor& cursor, const char* which) {
  if (cursor.has_gap()) {
    diff.notes.push_back(std::string(which) + " lost records while it was traced; compared up to there");
  } else if (!cursor.whole()) {
    diff.notes.push_back(std::string(which) + " was cut short; compared up to there");
  }
}

/// Where all rollups are the same, nothing is read that would show what is not there.
void note_end(RankDiff& diff, const RankTrace& trace, const char* which) {
  if (!trace.parts().back()->closed()) {
    diff.notes.push_back(std::string(which) + " was cut short; compared up to there");
  }
  for (const auto& part : trace.parts()) {
    if (part->end() && part->end()->count != 0) {
      diff.notes.push_back(std::string(which) + " lost " + std::to_string(part->end()->count) +
                           " records while it was traced");
    }
  }
}

void compare_records(RankDiff& diff, const RankTrace& a, const RankTrace& b, RankCursor at_a, RankCursor at_b,
                     std::uint32_t until) {
  at_a.until(until);
  at_b.until(until);
  const RecordDiff records = diff_records(at_a, at_b);
  diff.operations += records.compared;
  if (records.first) {
    diff.candidate = make_candidate(a, b, *records.first);
    diff.candidate->after_end = diff.candidate->difference == Difference::missing
                                    ? records.b_over
                                    : diff.candidate->difference == Difference::extra && records.a_over;
  } else if (records.gave_up) {
    diff.unusable = "the order of operations over communicators differs too much to compare";
  } else {
    if (records.ended_a) note_end(diff, at_a, "A");
    if (records.ended_b) note_end(diff, at_b, "B");
    if (diff.operations == 0 && !diff.notes.empty()) diff.unusable = "no operation is in both";
  }
}

/// From one entry before the first that differs, if there is one, so that a trace that ends there has a
/// place.
RankCursor cursor_before(const RankTrace& trace, const Entries& entries, std::size_t first) {
  return first == 0 ? RankCursor(trace) : RankCursor(trace, entries[first - 1]);
}

/// Rollups first.
RankDiff compare(const RankTrace& a, const RankTrace& b, const DiffOptions& options) {
  RankDiff diff;
  diff.rank = a.run().rank;
  if (a.run().world_size != b.run().world_size) {
    diff.unusable = "runs of different sizes: " + std::to_string(a.run().world_size) + " and " +
                    std::to_string(b.run().world_size) + " ranks";
    return diff;
  }
  const auto &end_a = a.only_end(), &end_b = b.only_end();
  const bool rollups = !options.ignore_rollups;
  if (rollups && !options.steps && options.until == kNoStep && end_a && end_b && end_a->total != 0 &&
      end_a->total == end_b->total && end_a->rollup == end_b->rollup) {
    diff.operations = end_a->total;
    diff.by_rollups = true;
    note_end(diff, a, "A");
    note_end(diff, b, "B");
    return diff;
  }
  std::optional<Entries> entries_a, entries_b;
  if (rollups || options.steps) {
    entries_a = a.entries();
    entries_b = b.entries();
  }
  if (!entries_a || !entries_b) {
    compare_records(diff, a, b, RankCursor(a), RankCursor(b), options.until);
    return diff;
  }
  cut(*entries_a, options.until);
  cut(*entries_b, options.until);
  if (options.steps) diff.steps = agreement(*entries_a, *entries_b);
  if (!rollups) {
    compare_records(diff, a, b, RankCursor(a), RankCursor(b), options.until);
    return diff;
  }
  const auto [first_a, first_b] =
      std::mismatch(entries_a->begin(), entries_a->end(), entries_b->begin(), entries_b->end(),
                    [](const RankEntry& x, const RankEntry& y) { return same(x.rollup, y.rollup); });
  const auto first = static_cast<std::size_t>(first_a - entries_a->begin());
  const bool same_a = first_a == entries_a->end(), same_b = first_b == entries_b->end();
  if (same_a && same_b) {
    diff.operations = records_in(*entries_a, first);
    diff.by_rollups = true;
    note_end(diff, a, "A");
    note_end(diff, b, "B");
  } else {
    diff.operations = records_in(*entries_a, first == 0 ? 0 : first - 1);
    compare_records(diff, a, b, cursor_before(a, *entries_a, first), cursor_before(b, *entries_b, first),
                    options.until);
  }
  return diff;
}

}  // namespace

RankDiff diff_rank(const RankTrace& a, const RankTrace& b, const DiffOptions& options) {
  RankDiff diff = compare(a, b, options);
  if (diff.candidate) return diff;
  for (StepAgreement& step : diff.steps) {
    if (step.agreement == Agreement::different)
      step.agreement = step.more_in_a ? Agreement::only_a : Agreement::only_b;
  }
  return diff;
}

}  // namespace detccl::trace
