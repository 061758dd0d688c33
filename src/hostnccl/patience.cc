// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/patience.h"

#include <fmt/format.h>

#include "hostnccl/error.h"

namespace detccl::hostnccl {

Patience Patience::of(const std::atomic<bool>& aborted, std::chrono::seconds timeout) {
  Patience patience;
  patience.aborted = &aborted;
  patience.timeout = timeout;
  if (timeout.count() > 0) patience.deadline = std::chrono::steady_clock::now() + timeout;
  return patience;
}

void Patience::check(const std::string& what) const {
  if (aborted != nullptr && aborted->load(std::memory_order_acquire)) {
    throw Error(ncclInternalError, fmt::format("the communicator was aborted while waiting for {}", what));
  }
  if (std::chrono::steady_clock::now() >= deadline) {
    throw Error(ncclRemoteError, fmt::format("waited {} s (HOSTNCCL_TIMEOUT) for {}", timeout.count(), what));
  }
}

}  // namespace detccl::hostnccl
