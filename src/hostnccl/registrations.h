// SPDX-License-Identifier: Apache-2.0
// Buffers that a user has registered with a communicator. Registration speeds nothing up on host memory; the
// handles are kept so that a wrong one is found.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace detccl::hostnccl {

/// Any thread.
class Registrations {
 public:
  struct Buffer {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  /// A handle, never null.
  void* add(const Buffer& buffer) {
    auto entry = std::make_unique<Buffer>(buffer);
    void* handle = entry.get();
    const std::lock_guard lock(mutex_);
    buffers_.emplace(handle, std::move(entry));
    return handle;
  }

  /// False when there is no such handle.
  bool remove(void* handle) {
    const std::lock_guard lock(mutex_);
    return buffers_.erase(handle) != 0;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<Buffer>> buffers_;
};

}  // namespace detccl::hostnccl
