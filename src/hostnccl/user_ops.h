// SPDX-License-Identifier: Apache-2.0
// The reduction operations that a user has made for a communicator (PreMulSum).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "contract/types.h"
#include "hostnccl/error.h"

namespace detccl::hostnccl {

struct UserOp {
  contract::DataType type = contract::DataType::float32;
  std::uint64_t scalar = 0;               ///< its bit pattern, read when the operation was made …
  const void* deferred_scalar = nullptr;  ///< … or where to read it when a collective starts
};

/// Any thread.
class UserOps {
 public:
  /// A handle that no other communicator of the process has.
  ncclRedOp_t add(const UserOp& op);
  std::optional<UserOp> find(int handle) const;
  bool remove(int handle);

 private:
  mutable std::mutex mutex_;
  std::map<int, UserOp> ops_;
};

}  // namespace detccl::hostnccl
