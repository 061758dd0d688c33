// SPDX-License-Identifier: Apache-2.0
#include "registry.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "summary.h"

namespace detccl::profiler {

std::shared_ptr<Communicator> Registry::add(Identity identity) {
  const std::unique_lock lock(mutex_);
  if (communicators_.size() >= 0xffff) return nullptr;
  do {
    ++last_;
  } while (last_ == 0 || communicators_.contains(last_));
  return communicators_[last_] = std::make_shared<Communicator>(last_, std::move(identity));
}

std::shared_ptr<Communicator> Registry::find(std::uint16_t number) const {
  const std::shared_lock lock(mutex_);
  const auto found = communicators_.find(number);
  return found == communicators_.end() ? nullptr : found->second;
}

std::shared_ptr<Communicator> Registry::find(const void* context) const {
  const auto number = reinterpret_cast<std::uintptr_t>(context);
  return number > 0xffff ? nullptr : find(static_cast<std::uint16_t>(number));
}

std::shared_ptr<Communicator> Registry::remove(const void* context) {
  const auto number = reinterpret_cast<std::uintptr_t>(context);
  const std::unique_lock lock(mutex_);
  const auto found = communicators_.find(static_cast<std::uint16_t>(number));
  if (number > 0xffff || found == communicators_.end()) return nullptr;
  std::shared_ptr<Communicator> communicator = std::move(found->second);
  communicators_.erase(found);
  return communicator;
}

std::map<std::uint16_t, std::shared_ptr<Communicator>> Registry::take_all() {
  const std::unique_lock lock(mutex_);
  return std::exchange(communicators_, {});
}

void* Registry::context_of(const Communicator& communicator) {
  return reinterpret_cast<void*>(std::uintptr_t{communicator.number()});
}

Registry& registry() {
  static Registry& the_registry = []() -> Registry& {
    // Programs often leave their communicators to the end of the process.
    std::atexit([] {
      for (const auto& [number, communicator] : registry().take_all())
        write_summary(*communicator);
    });
    return *new Registry;
  }();
  return the_registry;
}

}  // namespace detccl::profiler
