// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/memory.h"

#include <cstdlib>

#include <fmt/format.h>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

void* Memory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr std::size_t kAlignment = NCCL_WIN_REQUIRED_ALIGNMENT;
  if (bytes > SIZE_MAX - kAlignment)
    throw Error(ncclInvalidArgument, fmt::format("cannot allocate {} bytes", bytes));
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* pointer = std::aligned_alloc(kAlignment, rounded);
  if (pointer == nullptr) throw Error(ncclSystemError, fmt::format("no memory for {} bytes", bytes));
  const std::lock_guard lock(mutex_);
  allocated_.insert(pointer);
  return pointer;
}

void Memory::free(void* pointer) {
  if (pointer == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    if (allocated_.erase(pointer) == 0) {
      throw Error(ncclInvalidArgument, "the pointer was not made by ncclMemAlloc, or is freed already");
    }
  }
  std::free(pointer);
}

}  // namespace detccl::hostnccl
