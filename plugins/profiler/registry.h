// SPDX-License-Identifier: Apache-2.0
// The process's communicators. What NCCL holds for one is its number, not a pointer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "communicator.h"

namespace detccl::profiler {

class Registry {
 public:
  /// Null if there are 65,535 of them already.
  std::shared_ptr<Communicator> add(Identity identity);
  std::shared_ptr<Communicator> find(const void* context) const;
  std::shared_ptr<Communicator> find(const Handle& handle) const { return find(handle.communicator); }
  std::shared_ptr<Communicator> remove(const void* context);
  /// All that are left.
  std::map<std::uint16_t, std::shared_ptr<Communicator>> take_all();

  static void* context_of(const Communicator& communicator);

 private:
  std::shared_ptr<Communicator> find(std::uint16_t number) const;

  mutable std::shared_mutex mutex_;
  std::map<std::uint16_t, std::shared_ptr<Communicator>> communicators_;
  std::uint16_t last_ = 0;
};

/// Made at the first call, never destroyed; what is left in it when the process ends is written then.
Registry& registry();

}  // namespace detccl::profiler
