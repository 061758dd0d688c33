// SPDX-License-Identifier: Apache-2.0
#include "transport/linger.h"

#include <thread>
#include <utility>

#include "transport/quiet_thread.h"

namespace detccl::transport {
namespace {

using Clock = std::chrono::steady_clock;

/// A rank that has not fetched its data after so long is not going to.
constexpr std::chrono::seconds kLongest{30};

constexpr std::chrono::milliseconds kShortestPause{1}, kLongestPause{10};

}  // namespace

void Linger::add(std::unique_ptr<Departure> departure) {
  if (departure->progress()) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back({std::move(departure), Clock::now() + kLongest});
  if (running_ || stop_) return;
  running_ = true;
  quiet_thread([this] { run(); }).detach();
}

std::list<Linger::Entry> Linger::take_finished() {
  std::list<Entry> finished;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->departure->progress() || Clock::now() >= entry->deadline)
      finished.splice(finished.end(), entries_, entry);
    entry = next;
  }
  return finished;
}

void Linger::run() {
  auto pause = kShortestPause;
  for (;;) {
    std::list<Entry> finished;  // destroyed without the lock: that may take a while
    {
      const std::lock_guard lock(mutex_);
      finished = take_finished();
      if (finished.empty() && (entries_.empty() || stop_)) {
        running_ = false;
        ended_.notify_all();
        return;
      }
    }
    pause = finished.empty() ? std::min(2 * pause, kLongestPause) : kShortestPause;
    if (finished.empty()) std::this_thread::sleep_for(pause);
  }
}

void Linger::drain(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, limit, [this] { return !running_; });
  stop_ = true;
  // The thread must be out of the transport before the libraries below are taken down.
  ended_.wait_for(lock, std::chrono::seconds(3), [this] { return !running_; });
}

}  // namespace detccl::transport
