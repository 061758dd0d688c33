// SPDX-License-Identifier: Apache-2.0
#include "cli/elf_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <utility>

namespace detccl::cli {
namespace {

constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* bytes =
      size < sizeof(Elf64_Ehdr) ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED) return std::nullopt;
  ElfFile file(static_cast<const char*>(bytes), size);
  const auto* header = file.at<Elf64_Ehdr>(0);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != kByteOrder)
    return std::nullopt;
  file.read_symbols();
  return file;
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)),
      size_(other.size_),
      defined_(std::move(other.defined_)),
      undefined_(std::move(other.undefined_)) {
}

ElfFile::~ElfFile() {
  if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
}

template <class T>
const T* ElfFile::at(std::size_t offset, std::size_t count) const {
  if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) return nullptr;
  return reinterpret_cast<const T*>(bytes_ + offset);
}

std::string_view ElfFile::text_at(std::size_t offset) const {
  if (offset >= size_) return {};
  return {bytes_ + offset, strnlen(bytes_ + offset, size_ - offset)};
}

std::string ElfFile::interpreter() const {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* segments = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  for (int i = 0; segments != nullptr && i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_INTERP) return std::string(text_at(segments[i].p_offset));
  return {};
}

void ElfFile::read_symbols() {
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (int i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= header->e_shnum) continue;
    const std::size_t count = section.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(section.sh_offset, count);
    for (std::size_t k = 0; symbols != nullptr && k < count; ++k) {
      const std::string_view name = text_at(sections[section.sh_link].sh_offset + symbols[k].st_name);
      if (!name.starts_with("nccl") && !name.starts_with("detccl")) continue;
      (symbols[k].st_shndx == SHN_UNDEF ? undefined_ : defined_).emplace(name);
    }
  }
}

std::string ElfFile::embedded_nccl_version() const {
  // "NCCL version 2.28.9+cuda13.0", which it prints when it starts.
  constexpr std::string_view kNote = "NCCL version 2.";
  const std::string_view all(bytes_, size_);
  for (std::size_t at = all.find(kNote); at != std::string_view::npos; at = all.find(kNote, at + 1)) {
    const std::string_view text = all.substr(at + kNote.size() - 2, 20);
    std::size_t length = 0;
    while (length < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[length])) != 0 || text[length] == '.'))
      ++length;
    if (text.substr(length).starts_with("+cuda")) return std::string(text.substr(0, length));
  }
  return {};
}

}  // namespace detccl::cli
