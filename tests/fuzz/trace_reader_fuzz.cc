// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes as a trace file, as they are and with checksums made right.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "trace/format.h"
#include "trace/read_everything.h"

namespace {

/// The fuzzer cannot guess checksums.
std::vector<std::byte> with_checksums(std::span<const std::byte> bytes) {
  using detccl::trace::SegmentHeader;
  std::vector<std::byte> fixed;
  while (bytes.size() >= sizeof(SegmentHeader)) {
    SegmentHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes = bytes.subspan(sizeof header);
    const auto stored = bytes.first(header.stored_bytes < bytes.size() ? header.stored_bytes : bytes.size());
    detccl::trace::append_segment(fixed, header, stored);
    bytes = bytes.subspan(stored.size());
  }
  return fixed;
}

}  // namespace

// NOLINTNEXTLINE: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  detccl::test::read_everything(bytes);
  detccl::test::read_everything(with_checksums(bytes));
  return 0;
}
