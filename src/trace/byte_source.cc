// SPDX-License-Identifier: Apache-2.0
#include "trace/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace detccl::trace {
namespace {

class File : public ByteSource {
 public:
  File(int file, std::uint64_t size) : file_(file), size_(size) {}
  ~File() override { close(file_); }

  std::uint64_t size() const override { return size_; }

  bool read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (offset > size_ || bytes.size() > size_ - offset) return false;
    while (!bytes.empty()) {
      const ssize_t n = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return true;
  }

 private:
  int file_;
  std::uint64_t size_;
};

class Memory : public ByteSource {
 public:
  explicit Memory(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }

  bool read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (offset > bytes_.size() || bytes.size() > bytes_.size() - offset) return false;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
    return true;
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path, std::string& error) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    error = path + ": " + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    error = path + ": not a file";
  } else {
    return std::make_unique<File>(file, static_cast<std::uint64_t>(status.st_size));
  }
  if (file >= 0) close(file);
  return nullptr;
}

std::unique_ptr<ByteSource> in_memory(std::vector<std::byte> bytes) {
  return std::make_unique<Memory>(std::move(bytes));
}

}  // namespace detccl::trace
