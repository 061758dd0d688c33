// SPDX-License-Identifier: Apache-2.0
// A trace file is a row of segments, each a 64-byte header and a payload. docs/trace.md specifies it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trace/record.h"

namespace detccl::trace {

static_assert(std::endian::native == std::endian::little, "structures are written as they lie in memory");

inline constexpr std::uint32_t kMagic = 0x52545344;  // "DSTR"
inline constexpr std::uint16_t kFormatVersion = 1;

enum class SegmentType : std::uint8_t {
  run = 1,            ///< RunInfo; first in every file
  strings = 2,        ///< further strings, numbered on from those before
  communicators = 3,  ///< further communicators
  records = 4,        ///< Record[]
  chunks = 5,         ///< chunk tables of records that come later in the file
  index = 6,          ///< RollupEntry[] of the whole file
  end = 7,            ///< no payload; the last 64 bytes of a file that was closed
};

enum class Codec : std::uint8_t { raw = 0, zstd = 1 };

/// A payload is never larger, neither stored nor unpacked.
inline constexpr std::uint32_t kMaxPayload = 16U << 20U;
inline constexpr std::uint32_t kRecordsPerSegment = 2048;

/// In `end`, of a file that was sealed: its writer had not closed it.
inline constexpr std::uint32_t kCutShort = 1;

struct SegmentHeader {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kFormatVersion;
  SegmentType type = SegmentType::end;
  Codec codec = Codec::raw;
  std::uint32_t stored_bytes = 0;   ///< of the payload in the file
  std::uint32_t payload_bytes = 0;  ///< unpacked
  std::uint32_t flags = 0;          ///< end: kCutShort
  std::uint32_t count = 0;  ///< records, strings … in the payload; end: sequence numbers that no record has
  std::uint64_t position = 0;     ///< records: sequence of the first; end: file offset of the index, or 0
  std::uint64_t total = 0;        ///< end: records in the file
  Digest rollup;                  ///< sum of record hashes: of this segment, or, in `end`, of the file
  std::uint32_t payload_crc = 0;  ///< CRC-32C of the payload as stored
  std::uint32_t header_crc = 0;   ///< CRC-32C of the 60 bytes before
};
static_assert(sizeof(SegmentHeader) == 64 && std::is_trivially_copyable_v<SegmentHeader>);

/// Appends header, with its checksums, and payload, as it is stored. Sets stored_bytes; sets payload_bytes
/// where the codec is raw.
void append_segment(std::vector<std::byte>& file, SegmentHeader header, std::span<const std::byte> stored);
/// Whether these 64 bytes are a header of this format, with plausible sizes.
bool is_valid(const SegmentHeader& header);

/// One file per rank and process: part 0 is "rank-00017.dtr", a resumed run's are "rank-00017.1.dtr" ….
std::string part_name(std::uint32_t rank, std::uint32_t part);
/// The reverse; false for any other name.
bool parse_part_name(std::string_view name, std::uint32_t& rank, std::uint32_t& part);

std::uint32_t crc32c(std::span<const std::byte> bytes);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace detccl::trace
