// SPDX-License-Identifier: Apache-2.0
#include "trace/rollup.h"

#include <algorithm>

#include "trace/hash.h"

namespace detccl::trace {

void add(Digest& sum, const Digest& term) {
  sum.low += term.low;
  sum.high += term.high;
}

std::uint32_t Ordinals::next(const Record& record) {
  if (record.step != step_) {
    step_ = record.step;
    counts_.clear();
  }
  return counts_[record.communicator]++;
}

Digest record_hash(const Record& r, std::uint32_t ordinal) {
  Hash hash;
  hash.add(r.communicator);
  hash.add(ordinal);
  hash.add(std::uint64_t{static_cast<std::uint8_t>(r.kind)} | std::uint64_t{r.type} << 8U |
           std::uint64_t{r.op} << 16U | std::uint64_t{r.peer} << 32U);
  hash.add(r.count);
  hash.add(r.input.low);
  hash.add(r.input.high);
  hash.add(r.output.low);
  hash.add(r.output.high);
  return hash.value();
}

Digest Rollups::add(const Record& record, std::uint64_t segment_offset, std::uint32_t place) {
  const Digest hash = record_hash(record, ordinals_.next(record));
  if (entries_.empty() || entries_.back().step != record.step || entries_.back().count == kRollupRecords) {
    entries_.push_back({record.step, 0, static_cast<std::uint16_t>(place), segment_offset, {}});
  }
  ++entries_.back().count;
  trace::add(entries_.back().sum, hash);
  trace::add(total_, hash);
  ++records_;
  return hash;
}

void append_end(std::vector<std::byte>& buffer, const Rollups& rollups, SegmentHeader end,
                std::uint64_t offset) {
  constexpr std::size_t kEntries = kMaxPayload / sizeof(RollupEntry);
  std::span<const RollupEntry> entries = rollups.entries();
  end.type = SegmentType::end;
  end.position = entries.empty() ? 0 : offset + buffer.size();
  end.total = rollups.records();
  end.rollup = rollups.total();
  while (!entries.empty()) {
    const auto part = entries.first(std::min(entries.size(), kEntries));
    SegmentHeader index;
    index.type = SegmentType::index;
    index.count = static_cast<std::uint32_t>(part.size());
    append_segment(buffer, index, std::as_bytes(part));
    entries = entries.subspan(part.size());
  }
  append_segment(buffer, end, {});
}

}  // namespace detccl::trace
