// SPDX-License-Identifier: Apache-2.0
// Communicators that their user has destroyed while other ranks may still need their last data. They are
// moved on by a thread of their own, which exists only while there are any, until all ranks have left. So a
// destroy neither waits for other ranks, whatever the order, nor takes data away from them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "hostnccl/communicator.h"

namespace detccl::hostnccl {

class Linger {
 public:
  /// Its goodbye has been said.
  void add(std::shared_ptr<Communicator> communicator);

  /// At the process's exit: waits up to `limit` for the last one, then gives up those that are left.
  void drain(std::chrono::milliseconds limit);

 private:
  struct Entry {
    std::shared_ptr<Communicator> communicator;
    std::chrono::steady_clock::time_point deadline;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Entry> entries_;
  bool running_ = false, stop_ = false;
};

}  // namespace detccl::hostnccl
