// SPDX-License-Identifier: Apache-2.0
#include "trace/format.h"

#include <array>
#include <charconv>
#include <cstring>

namespace detccl::trace {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight bytes a turn: table k advances a byte over k more bytes.
constexpr Tables make_tables() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8U) ^ tables[0][before & 255U];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

bool parse_number(std::string_view text, std::uint32_t& value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

std::uint32_t checksum(const SegmentHeader& header) {
  return crc32c(bytes_of(header).first(sizeof header - sizeof header.header_crc));
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffff;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      crc ^= kTables[7 - k][(word >> (8 * k)) & 255U];
    }
  }
  for (; at < bytes.size(); ++at) {
    crc = (crc >> 8U) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(bytes[at])) & 255U];
  }
  return ~crc;
}

void append_segment(std::vector<std::byte>& file, SegmentHeader header, std::span<const std::byte> stored) {
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  if (header.codec == Codec::raw) header.payload_bytes = header.stored_bytes;
  header.payload_crc = crc32c(stored);
  header.header_crc = checksum(header);
  const auto bytes = bytes_of(header);
  file.insert(file.end(), bytes.begin(), bytes.end());
  file.insert(file.end(), stored.begin(), stored.end());
}

bool is_valid(const SegmentHeader& header) {
  if (header.magic != kMagic || header.version != kFormatVersion || header.header_crc != checksum(header)) {
    return false;
  }
  if (header.stored_bytes > kMaxPayload || header.payload_bytes > kMaxPayload) return false;
  if (header.codec == Codec::raw && header.stored_bytes != header.payload_bytes) return false;
  if (header.type == SegmentType::records) {
    return header.count <= kRecordsPerSegment && header.payload_bytes == header.count * sizeof(Record);
  }
  return header.type != SegmentType::end || header.payload_bytes == 0;
}

std::string part_name(std::uint32_t rank, std::uint32_t part) {
  std::string digits = std::to_string(rank);
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  return "rank-" + digits + (part == 0 ? "" : "." + std::to_string(part)) + ".dtr";
}

bool parse_part_name(std::string_view name, std::uint32_t& rank, std::uint32_t& part) {
  constexpr std::string_view kStart = "rank-", kEnd = ".dtr";
  if (!name.starts_with(kStart) || !name.ends_with(kEnd) || name.size() <= kStart.size() + kEnd.size()) {
    return false;
  }
  const std::string_view middle = name.substr(kStart.size(), name.size() - kStart.size() - kEnd.size());
  const std::size_t dot = middle.find('.');
  part = 0;
  if (dot != std::string_view::npos && !parse_number(middle.substr(dot + 1), part)) return false;
  return parse_number(middle.substr(0, dot), rank) && part_name(rank, part) == name;
}

}  // namespace detccl::trace
