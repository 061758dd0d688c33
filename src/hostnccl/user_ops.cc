// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/user_ops.h"

#include <atomic>

namespace detccl::hostnccl {
namespace {

std::atomic<int> next_handle{ncclNumOps};

}  // namespace

ncclRedOp_t UserOps::add(const UserOp& op) {
  const int handle = next_handle.fetch_add(1, std::memory_order_relaxed);
  if (handle < ncclNumOps)
    throw Error(ncclInternalError, "the process has made too many reduction operations");
  const std::lock_guard lock(mutex_);
  ops_.emplace(handle, op);
  return static_cast<ncclRedOp_t>(handle);
}

std::optional<UserOp> UserOps::find(int handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = ops_.find(handle);
  if (found == ops_.end()) return std::nullopt;
  return found->second;
}

bool UserOps::remove(int handle) {
  const std::lock_guard lock(mutex_);
  return ops_.erase(handle) != 0;
}

}  // namespace detccl::hostnccl
