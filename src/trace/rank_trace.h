// SPDX-License-Identifier: Apache-2.0
// One rank's trace: the file of its process, and those of the processes that resumed it, as one row of
// records.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/reader.h"

namespace detccl::trace {

/// A rollup entry and where it lies.
struct RankEntry {
  RollupEntry rollup;
  std::uint32_t part = 0;
};

struct RankRecord {
  Record record;
  std::uint32_t part = 0;
};

/// Where a resumed process repeats steps, its own count and those that it repeats do not. What it does before
/// its first step (setting up) is left out, for an uninterrupted run does it once.
class RankTrace {
 public:
  /// `paths`: part 0 first. Null, and the reason in `error`, if any of them cannot be read.
  static std::unique_ptr<RankTrace> open(const std::vector<std::string>& paths, std::string& error);
  static std::unique_ptr<RankTrace> of(std::vector<std::unique_ptr<Reader>> parts);

  const std::vector<std::unique_ptr<Reader>>& parts() const { return parts_; }
  const RunInfo& run() const { return parts_.front()->run(); }
  /// The totals of a trace that is one closed file; none where communicators are renamed.
  const std::optional<SegmentHeader>& only_end() const;

  /// All communicators that it knows.
  std::vector<Communicator> communicators() const;
  /// From now on records have the other keys: `keys`, from the file's to those.
  void rename(std::map<std::uint64_t, std::uint64_t> keys) { keys_ = std::move(keys); }
  bool renames() const { return !keys_.empty(); }
  std::uint64_t renamed(std::uint64_t key) const;
  std::uint64_t original(std::uint64_t key) const;

  /// Rollups in order, from the index or, where there is none, from all records; none if too many.
  std::optional<std::vector<RankEntry>> entries() const;
  /// Whether the record counts: for going through records by hand.
  bool counts(std::uint32_t part, std::uint32_t step) const;

 private:
  std::vector<std::unique_ptr<Reader>> parts_;
  std::vector<std::uint32_t> cut_;  ///< of each part: the first step that a later part repeats
  std::map<std::uint64_t, std::uint64_t> keys_;
};

/// Goes through the records that count.
class RankCursor {
 public:
  explicit RankCursor(const RankTrace& trace) : trace_(&trace) { enter(0, 0, 0); }
  RankCursor(const RankTrace& trace, const RankEntry& from) : trace_(&trace) {
    enter(from.part, from.rollup.segment_offset, from.rollup.skip);
  }

  /// Leaves out steps after this one.
  void until(std::uint32_t step) { until_ = step; }
  /// The next records, at least one; false at the end.
  bool next(std::vector<RankRecord>& records);
  /// After next() was false: whether nothing is missing at the end: the last file was closed, and no record
  /// was lost on the way. What comes after lost records is not given, nor after a file that was cut short
  /// before the steps that the next one begins with.
  bool whole() const { return whole_; }
  /// Records were lost while tracing (their sequence numbers are skipped), and next() ended there.
  bool has_gap() const { return gap_; }

 private:
  void enter(std::uint32_t part, std::uint64_t offset, std::uint32_t skip);
  bool take(const Record& record, std::vector<RankRecord>& records);

  const RankTrace* trace_;
  std::uint32_t until_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t part_ = 0;
  std::optional<RecordCursor> cursor_;
  std::optional<std::uint64_t> expected_;  ///< sequence
  std::vector<Record> raw_;
  bool reached_next_ = false;  ///< records of this part were seen that the next one repeats
  bool whole_ = false, gap_ = false, done_ = false;
};

}  // namespace detccl::trace
