// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/registry.h"

#include <utility>

namespace detccl::nccl_api {

std::shared_ptr<Communicator> Registry::find(ncclComm_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(handle);
  return found == entries_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Communicator>> Registry::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Communicator>> all;
  for (const auto& [handle, communicator] : entries_)
    all.push_back(communicator);
  return all;
}

void Registry::add(std::shared_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  const ncclComm_t handle = communicator->handle();
  names_.erase(handle);
  entries_.insert_or_assign(handle, std::move(communicator));
}

std::shared_ptr<Communicator> Registry::remove(ncclComm_t handle) {
  const std::lock_guard lock(mutex_);
  names_.erase(handle);
  const auto found = entries_.find(handle);
  if (found == entries_.end()) return nullptr;
  std::shared_ptr<Communicator> communicator = std::move(found->second);
  entries_.erase(found);
  return communicator;
}

void Registry::remove(const Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(communicator.handle());
  if (found != entries_.end() && found->second.get() == &communicator) entries_.erase(found);
}

void Registry::set_name(ncclComm_t handle, std::string name) {
  const std::lock_guard lock(mutex_);
  if (handle == nullptr || name.empty()) {
    names_.erase(handle);
  } else {
    names_.insert_or_assign(handle, std::move(name));
  }
}

std::string Registry::name_of(ncclComm_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(handle);
  return found == names_.end() ? "" : found->second;
}

}  // namespace detccl::nccl_api
