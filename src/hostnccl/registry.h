// SPDX-License-Identifier: Apache-2.0
// The communicators that the process's ncclComm_t stand for. A handle is looked up, not followed: one that is
// null, destroyed or made up is found out, and a communicator lives on while a call uses it.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "hostnccl/communicator.h"

namespace detccl::hostnccl {

/// Any thread.
class Registry {
 public:
  ncclComm_t add(std::shared_ptr<Communicator> communicator);
  /// Throws Error(ncclInvalidArgument).
  std::shared_ptr<Communicator> find(ncclComm_t handle) const;
  /// Takes it out; null when it is not there (any more).
  std::shared_ptr<Communicator> remove(ncclComm_t handle);
  static ncclComm_t handle_of(const Communicator& communicator);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Communicator>> communicators_;
};

}  // namespace detccl::hostnccl
