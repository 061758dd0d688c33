// SPDX-License-Identifier: Apache-2.0
// How long a call waits for other ranks.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace detccl::hostnccl {

/// Until `deadline`, or until `aborted` is set.
struct Patience {
  const std::atomic<bool>* aborted = nullptr;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::chrono::seconds timeout{0};  ///< what the deadline was made of, for messages

  static Patience of(const std::atomic<bool>& aborted, std::chrono::seconds timeout);
  /// Throws Error once patience is at an end; `what` was waited for.
  void check(const std::string& what) const;
};

}  // namespace detccl::hostnccl
