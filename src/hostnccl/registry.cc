// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/registry.h"

#include <utility>

namespace detccl::hostnccl {

ncclComm_t Registry::handle_of(const Communicator& communicator) {
  return reinterpret_cast<ncclComm_t>(const_cast<Communicator*>(&communicator));
}

ncclComm_t Registry::add(std::shared_ptr<Communicator> communicator) {
  const ncclComm_t handle = handle_of(*communicator);
  const std::lock_guard lock(mutex_);
  communicators_.emplace(handle, std::move(communicator));
  return handle;
}

std::shared_ptr<Communicator> Registry::find(ncclComm_t handle) const {
  if (handle == nullptr) throw Error(ncclInvalidArgument, "comm is NULL");
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) {
    throw Error(ncclInvalidArgument, "comm is no communicator of this process, or has been destroyed");
  }
  return found->second;
}

std::shared_ptr<Communicator> Registry::remove(ncclComm_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = communicators_.find(handle);
  if (found == communicators_.end()) return nullptr;
  auto communicator = std::move(found->second);
  communicators_.erase(found);
  return communicator;
}

}  // namespace detccl::hostnccl
