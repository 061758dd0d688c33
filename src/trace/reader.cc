// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "trace/compression.h"

namespace detccl::trace {
namespace {

constexpr std::size_t kMaxEntries = 65537;  // strings, communicators

/// Moves entries over, up to kMaxEntries.
template <class T>
void append(std::vector<T>& all, std::optional<std::vector<T>>&& more) {
  if (!more) return;
  for (T& entry : *more) {
    if (all.size() < kMaxEntries) all.push_back(std::move(entry));
  }
}

}  // namespace

const std::string& Tables::string(std::uint32_t number) const {
  return strings[number < strings.size() ? number : 0];
}

const Communicator* Tables::communicator(std::uint64_t key) const {
  const auto found = std::find_if(communicators.begin(), communicators.end(),
                                  [key](const Communicator& c) { return c.key == key; });
  return found == communicators.end() ? nullptr : &*found;
}

std::unique_ptr<Reader> Reader::open(std::unique_ptr<ByteSource> source, std::string& error) {
  std::unique_ptr<Reader> reader(new Reader(std::move(source)));
  const std::optional<Segment> first = reader->segment_at(0);
  std::vector<std::byte> payload;
  std::optional<RunInfo> run;
  if (first && first->header.type == SegmentType::run && reader->payload(*first, payload)) {
    run = decode_run_info(payload);
  }
  if (!run) {
    error = "not a trace of DetCCL, or its beginning is damaged";
    return nullptr;
  }
  reader->run_ = std::move(*run);
  reader->first_offset_ = first->next();
  if (reader->bytes() >= first->next() + sizeof(SegmentHeader)) {
    const auto last = reader->segment_at(reader->bytes() - sizeof(SegmentHeader));
    if (last && last->header.type == SegmentType::end) reader->end_ = last->header;
  }
  return reader;
}

std::optional<Segment> Reader::segment_at(std::uint64_t offset) const {
  Segment segment;
  segment.offset = offset;
  if (!source_->read(offset, std::as_writable_bytes(std::span(&segment.header, 1))) ||
      !is_valid(segment.header) ||
      segment.header.stored_bytes > source_->size() - offset - sizeof segment.header) {
    return std::nullopt;
  }
  return segment;
}

bool Reader::payload(const Segment& segment, std::vector<std::byte>& bytes) const {
  const SegmentHeader& header = segment.header;
  const bool raw = header.codec == Codec::raw;
  std::vector<std::byte>& stored = raw ? bytes : packed_;
  stored.resize(header.stored_bytes);
  if (!source_->read(segment.offset + sizeof header, stored) || crc32c(stored) != header.payload_crc) {
    return false;
  }
  if (raw) return true;
  bytes.resize(header.payload_bytes);
  return header.codec == Codec::zstd && decompress(stored, bytes);
}

bool Reader::records(const Segment& segment, std::vector<Record>& records) const {
  std::vector<std::byte> bytes;
  if (segment.header.type != SegmentType::records || !payload(segment, bytes)) return false;
  records.resize(segment.header.count);
  if (!bytes.empty()) std::memcpy(records.data(), bytes.data(), bytes.size());
  return true;
}

std::optional<std::vector<RollupEntry>> Reader::index() const {
  if (!end_) return std::nullopt;
  std::vector<RollupEntry> entries;
  std::uint64_t records = 0;
  Digest sum;
  std::vector<std::byte> bytes;
  std::uint64_t offset = end_->position;
  while (offset != 0 && offset < source_->size() - sizeof(SegmentHeader)) {
    const std::optional<Segment> segment = segment_at(offset);
    if (!segment || segment->header.type != SegmentType::index || !payload(*segment, bytes) ||
        bytes.size() != segment->header.count * sizeof(RollupEntry)) {
      return std::nullopt;
    }
    const std::size_t before = entries.size();
    if (before + segment->header.count > kMaxIndexEntries) return std::nullopt;
    entries.resize(before + segment->header.count);
    if (!bytes.empty()) std::memcpy(entries.data() + before, bytes.data(), bytes.size());
    offset = segment->next();
  }
  for (const RollupEntry& entry : entries) {
    if (entry.count == 0 || entry.skip >= kRecordsPerSegment) return std::nullopt;
    records += entry.count;
    add(sum, entry.sum);
  }
  if (records != end_->total || sum != end_->rollup) return std::nullopt;
  return entries;
}

Tables Reader::tables() const {
  Tables tables;
  std::size_t total = 0;
  std::vector<std::byte> bytes;
  for (auto segment = segment_at(first_offset_); segment; segment = segment_at(segment->next())) {
    const SegmentHeader& header = segment->header;
    if (header.type != SegmentType::strings && header.type != SegmentType::communicators) continue;
    total += header.payload_bytes;
    if (total > kMaxTables || !payload(*segment, bytes)) break;
    if (header.type == SegmentType::strings) {
      append(tables.strings, decode_strings(bytes, header.count));
    } else {
      append(tables.communicators, decode_communicators(bytes, header.count));
    }
  }
  return tables;
}

std::vector<ChunkTable> Reader::chunk_tables(std::uint64_t sequence) const {
  std::vector<ChunkTable> found;
  std::vector<std::byte> bytes;
  for (auto segment = segment_at(first_offset_); segment; segment = segment_at(segment->next())) {
    const SegmentHeader& header = segment->header;
    if (header.type == SegmentType::records && header.position > sequence) break;
    if (header.type != SegmentType::chunks || !payload(*segment, bytes)) continue;
    auto tables = decode_chunk_tables(bytes, header.count);
    if (!tables) continue;
    for (ChunkTable& table : *tables) {
      if (table.sequence == sequence && found.size() < 2) found.push_back(std::move(table));
    }
  }
  return found;
}

bool RecordCursor::next(std::vector<Record>& records) {
  while (true) {
    const std::optional<Segment> segment = reader_->segment_at(offset_);
    if (!segment) return false;
    if (segment->header.type == SegmentType::end) {
      whole_ = segment->next() == reader_->bytes() && reader_->closed();
      return false;
    }
    current_ = offset_;
    if (segment->header.type == SegmentType::records) {
      if (!reader_->records(*segment, records)) return false;
      const std::size_t skip = std::min<std::size_t>(skip_, records.size());
      records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(skip));
      skip_ = 0;
    } else {
      records.clear();
    }
    offset_ = segment->next();
    if (!records.empty()) return true;
  }
}

}  // namespace detccl::trace
