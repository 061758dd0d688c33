// SPDX-License-Identifier: Apache-2.0
// The end of communicators that this rank has done with and others perhaps not: what was sent last may still
// be fetched from this rank's memory. They are moved on by a thread of their own, which exists only while
// there are any. So a destroy neither waits for other ranks, whatever the order, nor takes data away from
// them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

namespace detccl::transport {

/// A communicator's exchange on which nothing is under way.
class Departure {
 public:
  virtual ~Departure() = default;

  /// Moves on without waiting. True when nobody needs it any more.
  virtual bool progress() = 0;
};

/// Any thread.
class Linger {
 public:
  void add(std::unique_ptr<Departure> departure);

  /// At the process's exit: waits up to `limit` for those that are left, then ends the thread.
  void drain(std::chrono::milliseconds limit);

 private:
  struct Entry {
    std::unique_ptr<Departure> departure;
    std::chrono::steady_clock::time_point deadline;
  };
  void run();
  std::list<Entry> take_finished();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Entry> entries_;
  bool running_ = false, stop_ = false;
};

}  // namespace detccl::transport
