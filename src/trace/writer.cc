// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace detccl::trace {
namespace {

constexpr std::uint32_t kMaxParts = 100000;
constexpr std::size_t kMaxPending = 1U << 20U;      // bytes of a table's entries before they are written out
constexpr std::size_t kMaxTable = kMaxPayload / 4;  // bytes of one entry's list

/// While it is there, a file that may grow no longer (RLIMIT_FSIZE) is an error of write(), and no signal,
/// which would end the process.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoFileSizeSignal() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_;
};

int write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset) {
  const NoFileSizeSignal guard;
  while (!bytes.empty()) {
    const ssize_t n = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return 0;
}

}  // namespace

Writer::Writer(const WriterOptions& options, RunInfo info)
    : segment_records_(std::clamp(options.segment_records, 1U, kRecordsPerSegment)),
      flush_interval_(options.flush_interval) {
  open(options.folder, std::move(info));
}

Writer::~Writer() {
  close();
}

void Writer::open(const std::string& folder, RunInfo info) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return fail(failure.value());
  for (info.part = 0; info.part < kMaxParts && file_ < 0; ++info.part) {
    path_ = folder + "/" + part_name(info.rank, info.part);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ >= 0) break;
    if (errno != EEXIST) return fail(errno);
  }
  if (file_ < 0) return fail(EEXIST);
  SegmentHeader header;
  header.type = SegmentType::run;
  header.count = 1;
  append_segment(buffer_, header, encode(info));
  write_out();
}

std::uint32_t Writer::string_number(std::string_view text) {
  text = text.substr(0, kMaxString);
  if (text.empty()) return 0;
  const auto known = string_numbers_.find(std::string(text));
  if (known != string_numbers_.end()) return known->second;
  if (string_numbers_.size() >= kMaxStrings) return 0;
  const auto number = static_cast<std::uint32_t>(string_numbers_.size() + 1);
  string_numbers_.emplace(text, number);
  append_string(strings_.payload, text);
  ++strings_.count;
  return number;
}

void Writer::add_communicator(const Communicator& communicator) {
  if (communicator.members.size() > kMaxTable / sizeof(std::uint32_t) ||
      communicator.name.size() > kMaxString) {
    Communicator cut = communicator;
    if (cut.members.size() > kMaxTable / sizeof(std::uint32_t)) cut.members.clear();
    cut.name.resize(std::min(cut.name.size(), kMaxString));
    append_communicator(communicators_.payload, cut);
  } else {
    append_communicator(communicators_.payload, communicator);
  }
  ++communicators_.count;
  if (communicators_.payload.size() > kMaxPending) flush();
}

void Writer::add_chunk_table(const ChunkTable& table) {
  static_assert(kMostChunks * sizeof(Digest) <= kMaxTable);
  if (table.digests.size() > kMostChunks) return;
  append_chunk_table(chunks_.payload, table);
  ++chunks_.count;
  if (chunks_.payload.size() > kMaxPending) flush();
}

void Writer::append(std::span<const Record> records) {
  if (error_ != 0 || closed_) {
    lost_ += records.size();
    return;
  }
  for (const Record& record : records) {
    if (records_.empty()) oldest_ = std::chrono::steady_clock::now();
    records_.push_back(record);
    if (records_.size() >= segment_records_) flush();
    if (error_ != 0) {
      lost_ += static_cast<std::uint64_t>(records.data() + records.size() - &record) - 1;
      return;
    }
  }
  tick();
}

void Writer::tick() {
  if (!records_.empty() && std::chrono::steady_clock::now() - oldest_ >= flush_interval_) flush();
}

void Writer::flush() {
  if (error_ != 0 || closed_) return;
  put_table(SegmentType::strings, strings_);
  put_table(SegmentType::communicators, communicators_);
  put_table(SegmentType::chunks, chunks_);
  put_records();
  write_out();
}

void Writer::put_records() {
  if (records_.empty()) return;
  SegmentHeader header;
  header.type = SegmentType::records;
  header.count = static_cast<std::uint32_t>(records_.size());
  header.position = records_.front().sequence;
  for (std::uint32_t place = 0; place < header.count; ++place) {
    const Record& record = records_[place];
    gaps_ += static_cast<std::uint32_t>(record.sequence - next_sequence_);
    next_sequence_ = record.sequence + 1;
    add(header.rollup, rollups_.add(record, file_bytes_ + buffer_.size(), place));
  }
  append_segment(buffer_, header, std::as_bytes(std::span(records_)));
}

void Writer::put_table(SegmentType type, Pending& pending) {
  if (pending.count == 0) return;
  SegmentHeader header;
  header.type = type;
  header.count = pending.count;
  append_segment(buffer_, header, pending.payload);
  pending = {};
}

/// 0, or the errno if nobody can find the file any more.
int Writer::missing() const {
  struct stat its {};
  if (fstat(file_, &its) != 0) return errno;
  return its.st_nlink == 0 ? ENOENT : 0;
}

void Writer::write_out() {
  int failure = write_all(file_, buffer_, file_bytes_);
  if (failure == 0) {
    file_bytes_ += buffer_.size();
    written_ += records_.size();
    records_.clear();
    buffer_.clear();
    failure = missing();
    if (failure != 0) lost_ += std::exchange(written_, 0);
  }
  if (failure != 0) fail(failure);
}

void Writer::fail(int error) {
  error_ = error == 0 ? EIO : error;
  lost_ += records_.size();
  records_ = {};
  buffer_ = {};
  if (file_ < 0) return;
  // What was written of the last segments would be skipped by readers anyway.
  [[maybe_unused]] const int ignored = ftruncate(file_, static_cast<off_t>(file_bytes_));
  ::close(std::exchange(file_, -1));
}

void Writer::end_at(std::uint64_t sequence) {
  flush();
  if (sequence > next_sequence_) gaps_ += static_cast<std::uint32_t>(sequence - next_sequence_);
  next_sequence_ = sequence;
}

void Writer::close() {
  if (closed_) return;
  flush();
  closed_ = true;
  if (error_ != 0) return;
  SegmentHeader end;
  end.count = gaps_;
  append_end(buffer_, rollups_, end, file_bytes_);
  write_out();
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0) error_ = errno;
}

bool Writer::take_failure() {
  return error_ != 0 && !std::exchange(failure_taken_, true);
}

}  // namespace detccl::trace
