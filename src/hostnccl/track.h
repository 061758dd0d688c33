// SPDX-License-Identifier: Apache-2.0
// One communicator's operations of a group on their way (runner.h).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "hostnccl/error.h"
#include "hostnccl/point_to_point.h"
#include "hostnccl/runner.h"

namespace detccl::hostnccl {

class Track {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes the communicator for itself. Throws Error where another thread uses it, or it cannot be used.
  explicit Track(const Batch& batch);

  /// Moves on without waiting; false when there is nothing left to do. Never throws: see error().
  bool progress();

  /// Looks whether to give up: aborted, a peer dead, time over.
  void watch(Clock::time_point now);

  /// Grows with every step made: tells progress from waiting.
  std::uint64_t steps() const;

  const std::optional<Error>& error() const { return error_; }

 private:
  bool start_next();
  void tell(const Operation& operation);
  void tell_end();
  void give_up(ncclResult_t code, const std::string& why);
  std::string waiting_for() const;

  const Batch& batch_;
  std::unique_lock<std::mutex> use_;
  std::size_t next_ = 0;  ///< collective to start
  bool sent_and_received_ = false;
  std::unique_ptr<engine::Execution> execution_;
  std::unique_ptr<PointToPoint> point_to_point_;
  std::vector<Profiler::Event> events_;  ///< of what is under way
  std::uint64_t steps_ = 0, steps_seen_ = 0;
  Clock::time_point last_step_;
  std::optional<Clock::time_point> grace_end_;
  std::optional<Error> error_;
};

}  // namespace detccl::hostnccl
