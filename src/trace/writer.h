// SPDX-License-Identifier: Apache-2.0
// Writes one rank's trace file. Part of what is preloaded into a job: standard library and system calls only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/format.h"
#include "trace/record.h"
#include "trace/rollup.h"
#include "trace/run_info.h"
#include "trace/tables.h"

namespace detccl::trace {

struct WriterOptions {
  std::string folder;                                  ///< made, with its parents, if it is not there
  std::uint32_t segment_records = kRecordsPerSegment;  ///< 1 … kRecordsPerSegment
  std::chrono::milliseconds flush_interval{
      1000};  ///< a record waits no longer, if append() or tick() is called
};

/// For one thread. Records reach the file in whole segments, so that what was flushed can be read after the
/// process is killed. After a failure the file is cut to its last whole segment and the writer takes no
/// more: it counts, and never fails its caller. A file that was removed, or replaced, is a failure too: of
/// all that was written.
class Writer {
 public:
  /// Makes a new file, "rank-00017.dtr", or "rank-00017.1.dtr" … where such are there: nothing is ever
  /// overwritten. `info.part` is set accordingly. See error().
  Writer(const WriterOptions& options, RunInfo info);
  /// Closes. Without it, as after a crash, the file has no end segment and reads as cut short.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A string's number for Record::phase; the same for the same text. 0 where it is empty or there are
  /// kMaxStrings already. Longer texts are cut to kMaxString bytes.
  std::uint32_t string_number(std::string_view text);
  /// Before the first record that refers to it.
  void add_communicator(const Communicator& communicator);
  /// Before the record that it belongs to; left out if it has more than kMostChunks.
  void add_chunk_table(const ChunkTable& table);
  /// Sequences grow; numbers that are left out stand for records that were lost on the way here.
  void append(std::span<const Record> records);
  /// Writes out what has waited for the flush interval; for the time when nothing is appended.
  void tick();
  void flush();
  /// `sequence`: the next record's, if there were one; what lies between was lost. Before close().
  void end_at(std::uint64_t sequence);
  /// Flushes and writes index and end. Nothing may be appended afterwards.
  void close();

  /// 0, or the errno of the first failure, which is final.
  int error() const { return error_; }
  /// True once, after the first failure: for the caller to report it.
  bool take_failure();
  /// Records in the file, and records that were appended but are not there because of a failure.
  std::uint64_t written() const { return written_; }
  std::uint64_t lost() const { return lost_; }
  const std::string& path() const { return path_; }

  static constexpr std::size_t kMaxStrings = 65536;
  static constexpr std::size_t kMaxString = 1024;
  static constexpr std::size_t kMostChunks = std::size_t{1} << 18;

 private:
  struct Pending {  ///< a table's further entries
    std::vector<std::byte> payload;
    std::uint32_t count = 0;
  };
  void open(const std::string& folder, RunInfo info);
  void put_table(SegmentType type, Pending& pending);
  void put_records();
  void write_out();
  int missing() const;
  void fail(int error);

  int file_ = -1;
  int error_ = 0;
  bool failure_taken_ = false;
  bool closed_ = false;
  std::string path_;
  std::uint32_t segment_records_;
  std::chrono::milliseconds flush_interval_;
  std::chrono::steady_clock::time_point oldest_;  ///< when the first waiting record came
  std::uint64_t file_bytes_ = 0;                  ///< whole segments
  std::uint64_t written_ = 0, lost_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::uint32_t gaps_ = 0;  ///< sequence numbers that were never appended
  std::vector<Record> records_;
  Pending strings_, communicators_, chunks_;
  std::vector<std::byte> buffer_;  ///< segments on their way to the file
  Rollups rollups_;
  std::unordered_map<std::string, std::uint32_t> string_numbers_;
};

}  // namespace detccl::trace
