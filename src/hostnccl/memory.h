// SPDX-License-Identifier: Apache-2.0
// ncclMemAlloc on host memory.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_set>

namespace detccl::hostnccl {

/// Any thread.
class Memory {
 public:
  /// Contents undefined, aligned to NCCL_WIN_REQUIRED_ALIGNMENT; null for 0 bytes. Throws
  /// Error(ncclSystemError).
  void* allocate(std::size_t bytes);
  /// Null is allowed. Throws Error(ncclInvalidArgument) for what allocate() has not given out.
  void free(void* pointer);

 private:
  std::mutex mutex_;
  std::unordered_set<void*> allocated_;
};

}  // namespace detccl::hostnccl
