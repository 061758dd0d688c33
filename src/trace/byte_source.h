// SPDX-License-Identifier: Apache-2.0
// Where a reader's bytes come from: a file, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace detccl::trace {

/// Any thread may read, if each source is used by one at a time.
class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// As it was when the source was made; what a running job writes later is not seen.
  virtual std::uint64_t size() const = 0;
  /// False if they are not all there.
  virtual bool read(std::uint64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Null, and the reason in `error`, if it cannot be opened. Not mapped: a file that is cut meanwhile would
/// end the program.
std::unique_ptr<ByteSource> open_file(const std::string& path, std::string& error);
std::unique_ptr<ByteSource> in_memory(std::vector<std::byte> bytes);

}  // namespace detccl::trace
