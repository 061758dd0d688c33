// SPDX-License-Identifier: Apache-2.0
#include "trace/seal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "trace/compression.h"
#include "trace/reader.h"
#include "trace/rollup.h"

namespace detccl::trace {
namespace {

/// Appends to `file` what the reader has, packed. False where a segment is damaged: what comes after it is
/// lost.
bool pack(const Reader& reader, std::vector<std::byte>& file, Sealed& sealed) {
  Rollups rollups;
  SegmentHeader end;
  std::uint64_t expected = 0;
  std::vector<std::byte> bytes;
  std::vector<Record> records;
  bool all = false;
  for (auto segment = reader.segment_at(0); segment; segment = reader.segment_at(segment->next())) {
    SegmentHeader header = segment->header;
    if (header.type == SegmentType::end) {
      all = true;
      break;
    }
    if (header.type == SegmentType::index) continue;
    if (!reader.payload(*segment, bytes)) break;
    if (header.type == SegmentType::records) {
      if (!reader.records(*segment, records)) break;
      for (std::uint32_t place = 0; place < records.size(); ++place) {
        rollups.add(records[place], file.size(), place);
        end.count += static_cast<std::uint32_t>(records[place].sequence - expected);
        expected = records[place].sequence + 1;
      }
    }
    const std::vector<std::byte> packed = compress(bytes);
    header.codec = packed.empty() ? Codec::raw : Codec::zstd;
    header.payload_bytes = static_cast<std::uint32_t>(bytes.size());
    append_segment(file, header, packed.empty() ? bytes : packed);
  }
  sealed.was_whole = reader.closed() && all;
  end.flags = sealed.was_whole ? 0 : kCutShort;
  if (all) end.count = reader.end()->count;  // also of those after the last
  append_end(file, rollups, end);
  return all || !reader.end();
}

bool replace(const std::string& path, const std::vector<std::byte>& bytes, std::string& error) {
  const std::string fresh = path + ".sealing";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  std::size_t done = 0;
  while (file >= 0 && done < bytes.size()) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  const bool written = file >= 0 && done == bytes.size() && fsync(file) == 0;
  if (!written) error = fresh + ": " + std::strerror(errno);
  if (file >= 0) close(file);
  std::error_code failure;
  if (written) std::filesystem::rename(fresh, path, failure);
  if (failure) error = path + ": " + failure.message();
  if (written && !failure) return true;
  std::filesystem::remove(fresh, failure);
  return false;
}

}  // namespace

bool seal(const std::string& path, Sealed& sealed, std::string& error) {
  auto source = open_file(path, error);
  if (!source) return false;
  const auto reader = Reader::open(std::move(source), error);
  if (!reader) {
    error = path + ": " + error;
    return false;
  }
  std::vector<std::byte> file;
  if (!pack(*reader, file, sealed)) {
    error = path + ": damaged; it is left as it is";
    return false;
  }
  sealed.bytes_before = reader->bytes();
  sealed.bytes_after = file.size();
  return replace(path, file, error);
}

}  // namespace detccl::trace
