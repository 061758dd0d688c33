// SPDX-License-Identifier: Apache-2.0
// The reductions of one communicator that were handed over together, one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "engine/phases.h"
#include "engine/scaled_sum.h"
#include "nccl_api/communicator.h"
#include "nccl_api/queued_reduction.h"

namespace detccl::nccl_api {

/// Holds the communicator from construction to destruction.
class Lane {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Lane(std::shared_ptr<Communicator> communicator);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const Communicator& communicator() const { return *communicator_; }
  void push(const QueuedReduction& reduction) { queue_.push_back(reduction); }

  /// Moves on without waiting. True while there is more to do.
  bool progress();
  /// To be called now and then: ends the lane where a peer has died or nothing has moved for too long.
  void watch(Clock::time_point now);

  /// A number that grows when something moves.
  std::uint64_t steps() const { return finished_steps_ + (execution_ ? execution_->steps() : 0); }
  ncclResult_t result() const { return result_; }

 private:
  bool more() const { return barrier_due_ || !queue_.empty(); }
  void start_next();
  void start_reduction();
  void start(const engine::Reduction& call);
  ncclResult_t ended();
  ncclResult_t after_agreement();
  void after_reduction();
  void start_agreement();
  ncclResult_t run_native(const QueuedReduction& reduction);
  void tell_pair();
  void finish();
  bool connecting();
  void fail_with(ncclResult_t code, const std::string& why = {});
  void give_up(ncclResult_t code, const std::string& why);

  std::shared_ptr<Communicator> communicator_;
  bool entered_;
  std::future<ncclResult_t> connection_;
  std::deque<QueuedReduction> queue_;
  std::optional<engine::Execution> execution_;
  /// What the execution is of: a reduction, or what sampling (sampling.h) has ranks do together around it.
  enum class Part : std::uint8_t { reduction, agreement, barrier } part_ = Part::reduction;
  QueuedReduction current_;                  ///< the last one that was begun
  engine::Reduction call_;                   ///< its call, as it is executed
  std::optional<engine::ScaledSum> scaled_;  ///< where it is a PreMulSum of several ranks
  std::vector<std::byte> products_;
  std::optional<engine::Phases> phases_;  ///< of a reduction that is timed
  std::optional<profile::Range> range_;
  /// A reduction that runs both ways.
  struct Pair {
    bool native_first = false;
    bool begun = false;                  ///< the native one has run once, and all ranks are through with that
    std::uint64_t ours = 0, native = 0;  ///< nanoseconds, of the whole call
  };
  std::optional<Pair> pair_;
  std::uint64_t before_ = 0;    ///< nanoseconds from its call to what the ranks do together
  Sample sample_ = Sample::no;  ///< whether the reduction at hand is to be sampled, …
  bool asked_ = false;          ///< … and the ranks have agreed on it
  bool barrier_due_ = false;    ///< before a pair, and between its two
  std::uint64_t finished_steps_ = 0, steps_seen_ = 0;
  Clock::time_point last_step_ = Clock::now();
  ncclResult_t result_ = ncclSuccess;
};

}  // namespace detccl::nccl_api
