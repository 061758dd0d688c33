// SPDX-License-Identifier: Apache-2.0
// Reads one trace file. Trusts nothing in it: every size is checked before memory is taken or bytes are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/byte_source.h"
#include "trace/format.h"
#include "trace/record.h"
#include "trace/rollup.h"
#include "trace/run_info.h"
#include "trace/tables.h"

namespace detccl::trace {

struct Segment {
  SegmentHeader header;
  std::uint64_t offset = 0;  ///< of the header
  std::uint64_t next() const { return offset + sizeof header + header.stored_bytes; }
};

struct Tables {
  std::vector<std::string> strings{1};  ///< by number
  std::vector<Communicator> communicators;

  /// "" for a number that there is none of.
  const std::string& string(std::uint32_t number) const;
  const Communicator* communicator(std::uint64_t key) const;
};

class Reader {
 public:
  /// Null, and the reason in `error`, if the bytes do not begin as a trace does.
  static std::unique_ptr<Reader> open(std::unique_ptr<ByteSource> source, std::string& error);

  const RunInfo& run() const { return run_; }
  /// The end segment; none if the file was neither closed nor sealed, or its end is gone.
  const std::optional<SegmentHeader>& end() const { return end_; }
  /// Whether the writer closed the file.
  bool closed() const { return end_ && (end_->flags & kCutShort) == 0; }
  std::uint64_t first_offset() const { return first_offset_; }
  std::uint64_t bytes() const { return source_->size(); }

  /// The segment whose header is there, if it is whole.
  std::optional<Segment> segment_at(std::uint64_t offset) const;
  /// Checked and unpacked; false if damaged.
  bool payload(const Segment& segment, std::vector<std::byte>& bytes) const;
  bool records(const Segment& segment, std::vector<Record>& records) const;

  /// The rollup index of a closed file; none if there is none, or it does not fit the end segment.
  std::optional<std::vector<RollupEntry>> index() const;
  /// Strings and communicators; those that are damaged, or more than kMaxTables bytes, are left out.
  Tables tables() const;
  /// The chunk tables of a record: at most one for the input and one for the output.
  std::vector<ChunkTable> chunk_tables(std::uint64_t sequence) const;

  static constexpr std::size_t kMaxTables = 80U << 20U;
  static constexpr std::size_t kMaxIndexEntries = 4U << 20U;

 private:
  explicit Reader(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  std::unique_ptr<ByteSource> source_;
  RunInfo run_;
  std::optional<SegmentHeader> end_;
  std::uint64_t first_offset_ = 0;
  mutable std::vector<std::byte> packed_;
};

/// Goes through a file's records, segment by segment.
class RecordCursor {
 public:
  /// From a records segment on, without its first `skip` records.
  RecordCursor(const Reader& reader, std::uint64_t offset, std::uint32_t skip)
      : reader_(&reader), offset_(offset), skip_(skip) {}

  /// The next records, at least one; false at the end of the file, or of what can be read of it.
  bool next(std::vector<Record>& records);
  /// After next() was false: whether the file was closed by its writer, and all of it could be read.
  bool whole() const { return whole_; }
  /// Of the segment that next() read.
  std::uint64_t segment_offset() const { return current_; }

 private:
  const Reader* reader_;
  std::uint64_t offset_, current_ = 0;
  std::uint32_t skip_;
  bool whole_ = false;
};

}  // namespace detccl::trace
