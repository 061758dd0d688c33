// SPDX-License-Identifier: Apache-2.0
#include "trace/rank_trace.h"

#include <algorithm>
#include <utility>

namespace detccl::trace {
namespace {

std::optional<std::uint32_t> first_step(const Reader& part) {
  RecordCursor cursor(part, part.first_offset(), 0);
  std::vector<Record> records;
  while (cursor.next(records)) {
    for (const Record& record : records) {
      if (record.step != kNoStep) return record.step;
    }
  }
  return std::nullopt;
}

std::optional<std::vector<RollupEntry>> rollups_of(const RankTrace& trace, const Reader& part) {
  if (auto index = part.index(); index && !trace.renames()) return index;
  Rollups rollups;
  RecordCursor cursor(part, part.first_offset(), 0);
  std::vector<Record> records;
  while (cursor.next(records)) {
    for (std::uint32_t place = 0; place < records.size(); ++place) {
      records[place].communicator = trace.renamed(records[place].communicator);
      rollups.add(records[place], cursor.segment_offset(), place);
    }
    if (rollups.entries().size() > Reader::kMaxIndexEntries) return std::nullopt;
  }
  return std::vector<RollupEntry>(rollups.entries().begin(), rollups.entries().end());
}

}  // namespace

std::unique_ptr<RankTrace> RankTrace::open(const std::vector<std::string>& paths, std::string& error) {
  std::vector<std::unique_ptr<Reader>> parts;
  for (const std::string& path : paths) {
    auto source = open_file(path, error);
    if (!source) return nullptr;
    auto part = Reader::open(std::move(source), error);
    if (!part) {
      error = path + ": " + error;
      return nullptr;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) {
    error = "no files";
    return nullptr;
  }
  return of(std::move(parts));
}

std::unique_ptr<RankTrace> RankTrace::of(std::vector<std::unique_ptr<Reader>> parts) {
  auto trace = std::make_unique<RankTrace>();
  trace->parts_ = std::move(parts);
  trace->cut_.assign(trace->parts_.size(), kNoStep);
  std::uint32_t cut = kNoStep;
  for (std::size_t part = trace->parts_.size(); part-- > 1;) {
    cut = std::min(cut, first_step(*trace->parts_[part]).value_or(kNoStep));
    trace->cut_[part - 1] = cut;
  }
  return trace;
}

const std::optional<SegmentHeader>& RankTrace::only_end() const {
  static const std::optional<SegmentHeader> kNoEnd;
  return parts_.size() == 1 && !renames() ? parts_[0]->end() : kNoEnd;
}

std::vector<Communicator> RankTrace::communicators() const {
  std::vector<Communicator> all;
  for (const auto& part : parts_) {
    for (const Communicator& communicator : part->tables().communicators) {
      all.push_back(communicator);
    }
  }
  return all;
}

std::uint64_t RankTrace::renamed(std::uint64_t key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? key : found->second;
}

std::uint64_t RankTrace::original(std::uint64_t key) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [key](const auto& k) { return k.second == key; });
  return found == keys_.end() ? key : found->first;
}

bool RankTrace::counts(std::uint32_t part, std::uint32_t step) const {
  return step == kNoStep ? part == 0 : step < cut_[part];
}

std::optional<std::vector<RankEntry>> RankTrace::entries() const {
  std::vector<RankEntry> all;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    const auto entries = rollups_of(*this, *parts_[part]);
    if (!entries) return std::nullopt;
    for (const RollupEntry& entry : *entries) {
      if (counts(part, entry.step)) all.push_back({entry, part});
    }
  }
  return all;
}

void RankCursor::enter(std::uint32_t part, std::uint64_t offset, std::uint32_t skip) {
  part_ = part;
  const Reader& reader = *trace_->parts()[part];
  cursor_.emplace(reader, offset == 0 ? reader.first_offset() : offset, skip);
  reached_next_ = false;
  expected_.reset();
  if (offset == 0) expected_ = 0;
}

bool RankCursor::take(const Record& record, std::vector<RankRecord>& records) {
  if (expected_ && record.sequence != *expected_) {
    gap_ = done_ = true;
    return false;
  }
  expected_ = record.sequence + 1;
  if (!trace_->counts(part_, record.step)) {
    reached_next_ = reached_next_ || record.step != kNoStep;
    return true;
  }
  if (record.step != kNoStep && record.step > until_) {
    // Steps only grow, so this is the end; what it leaves out is not missing.
    whole_ = done_ = true;
    return false;
  }
  records.push_back({record, part_});
  records.back().record.communicator = trace_->renamed(record.communicator);
  return true;
}

bool RankCursor::next(std::vector<RankRecord>& records) {
  records.clear();
  while (!done_) {
    if (!cursor_->next(raw_)) {
      whole_ = cursor_->whole();
      done_ = part_ + 1 == trace_->parts().size() || !(whole_ || reached_next_);
      if (!done_) enter(part_ + 1, 0, 0);
      continue;
    }
    for (const Record& record : raw_) {
      if (!take(record, records)) break;
    }
    if (!records.empty()) return true;
  }
  return false;
}

}  // namespace detccl::trace
