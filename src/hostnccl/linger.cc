// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/linger.h"

#include <thread>
#include <utility>

namespace detccl::hostnccl {
namespace {

using Clock = std::chrono::steady_clock;

/// Nobody needs data that he has not fetched for so long.
constexpr std::chrono::seconds kLongest{30};

constexpr std::chrono::milliseconds kShortestPause{1}, kLongestPause{10};

}  // namespace

void Linger::add(std::shared_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(communicator), Clock::now() + kLongest});
  if (running_ || stop_) return;
  running_ = true;
  std::thread([this] { run(); }).detach();
}

void Linger::run() {
  auto pause = kShortestPause;
  while (true) {
    std::list<Entry> finished;  // destroyed without the lock: that may take a while
    std::unique_lock lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      Communicator& communicator = *entry->communicator;
      if (communicator.control->all_left() || Clock::now() >= entry->deadline) {
        finished.splice(finished.end(), entries_, entry);
      } else {
        communicator.exchange->progress();
      }
      entry = next;
    }
    if (finished.empty() && (entries_.empty() || stop_)) {
      running_ = false;
      ended_.notify_all();
      return;
    }
    lock.unlock();
    pause = finished.empty() ? std::min(2 * pause, kLongestPause) : kShortestPause;
    if (finished.empty()) std::this_thread::sleep_for(pause);
  }
}

void Linger::drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, limit, [this] { return !running_; });
  stop_ = true;
  // The thread must be out of the transport before the libraries below are taken down.
  ended_.wait_for(lock, std::chrono::seconds(2), [this] { return !running_; });
}

}  // namespace detccl::hostnccl
