// SPDX-License-Identifier: Apache-2.0
// What an ELF file says of itself: 64-bit, this machine's byte order.
#pragma once

#include <elf.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace detccl::cli {

class ElfFile {
 public:
  /// Nothing where the file cannot be read or is none of these.
  static std::optional<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  /// The loader that a program asks for; empty for a library and a static program.
  std::string interpreter() const;

  /// Names that begin with "nccl" or "detccl" in the dynamic symbol table.
  const std::set<std::string, std::less<>>& defined() const { return defined_; }
  const std::set<std::string, std::less<>>& undefined() const { return undefined_; }

  /// NCCL's own note of its version inside the file ("2.28.9"), or nothing.
  std::string embedded_nccl_version() const;

 private:
  ElfFile(const char* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  template <class T>
  const T* at(std::size_t offset, std::size_t count = 1) const;
  std::string_view text_at(std::size_t offset) const;
  void read_symbols();

  const char* bytes_;
  std::size_t size_;
  std::set<std::string, std::less<>> defined_, undefined_;
};

}  // namespace detccl::cli
