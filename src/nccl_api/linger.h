// SPDX-License-Identifier: Apache-2.0
// Exchanges of communicators that this rank has done with and others perhaps not. They are moved on by a
// thread of their own, which exists only while there are any, so that ncclCommDestroy waits for nobody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

#include "nccl_api/farewell.h"

namespace detccl::nccl_api {

/// Any thread.
class Linger {
 public:
  /// Takes over an exchange on which nothing is under way.
  void add(std::unique_ptr<transport::Exchange> exchange);

  /// At the process's exit: waits up to `limit` for those that are left, then ends the thread.
  void drain(std::chrono::milliseconds limit);

 private:
  struct Entry {
    std::unique_ptr<Farewell> farewell;
    std::chrono::steady_clock::time_point deadline;
  };
  void run();
  std::list<Entry> take_finished();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Entry> entries_;
  bool running_ = false, stop_ = false;
};

}  // namespace detccl::nccl_api
