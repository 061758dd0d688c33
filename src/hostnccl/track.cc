// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/track.h"

#include <fmt/format.h>

#include "hostnccl/collectives.h"

namespace detccl::hostnccl {
namespace {

/// When a peer has died or left, all that it sent may be here already: so long may an operation go on.
constexpr std::chrono::milliseconds kGrace{300};

}  // namespace

Track::Track(const Batch& batch)
    : batch_(batch), use_(batch.communicator->use, std::try_to_lock), last_step_(Clock::now()) {
  if (!use_) {
    throw Error(ncclInvalidUsage,
                "two threads use one communicator at the same time; operations on it must be "
                "called by one thread after the other");
  }
  if (batch.communicator->interrupted())
    throw Error(ncclInvalidArgument, "the communicator has been aborted");
  batch.communicator->check_usable();
}

bool Track::start_next() {
  Communicator& c = *batch_.communicator;
  if (next_ < batch_.collectives.size()) {
    tell(batch_.collectives[next_]);
    Work work = work_of(batch_.collectives[next_++], c.ring, c.rank());
    execution_ = std::make_unique<engine::Execution>(*c.exchange, c.scratch, work.arithmetic,
                                                     std::move(work.jobs), c.sequence++);
    return true;
  }
  if (!batch_.point_to_point.empty() && !sent_and_received_) {
    sent_and_received_ = true;
    for (const Operation& operation : batch_.point_to_point)
      tell(operation);
    point_to_point_ = std::make_unique<PointToPoint>(*c.exchange, batch_.point_to_point);
    return true;
  }
  return false;
}

void Track::tell(const Operation& operation) {
  const Profiler::Event event = batch_.communicator->profiler.start(operation);
  if (event.operation != nullptr) events_.push_back(event);
}

void Track::tell_end() {
  for (const Profiler::Event& event : events_)
    batch_.communicator->profiler.stop(event);
  events_.clear();
}

bool Track::progress() {
  if (error_) return false;
  try {
    if (execution_ == nullptr && point_to_point_ == nullptr && !start_next()) {
      batch_.communicator->exchange->progress();  // what was sent last may still be on its way
      return false;
    }
    const engine::Status status = execution_ ? execution_->progress() : point_to_point_->progress();
    if (status == engine::Status::running) return true;
    if (status == engine::Status::failed) {
      give_up(ncclRemoteError, execution_ ? execution_->failure() : point_to_point_->failure());
      return false;
    }
    steps_ = steps() + 1;
    tell_end();
    execution_.reset();
    point_to_point_.reset();
    return true;
  } catch (const Error& error) {
    error_ = error;
  } catch (const std::exception& error) {
    give_up(ncclInternalError, error.what());
  }
  return false;
}

std::uint64_t Track::steps() const {
  if (execution_) return steps_ + execution_->steps();
  return steps_ + (point_to_point_ ? point_to_point_->completed() : 0);
}

void Track::watch(Clock::time_point now) {
  if (error_ || (execution_ == nullptr && point_to_point_ == nullptr)) return;
  Communicator& c = *batch_.communicator;
  if (steps() != steps_seen_) last_step_ = now;
  steps_seen_ = steps();
  if (c.interrupted()) return give_up(ncclInternalError, "the communicator was aborted");
  if (c.revoked.load(std::memory_order_acquire)) {
    execution_.reset();
    point_to_point_.reset();
    error_ = Error(ncclInvalidUsage, "the communicator was revoked");
    return;
  }
  std::string failure = c.control->failure();
  if (failure.empty()) failure = c.exchange->failure();
  if (!failure.empty()) {
    if (!grace_end_) grace_end_ = now + kGrace;
    if (now >= *grace_end_) return give_up(ncclRemoteError, failure);
  }
  const auto timeout = c.identity().settings.timeout;
  if (timeout.count() > 0 && now - last_step_ >= timeout) {
    give_up(ncclRemoteError, fmt::format("no progress for {} s (HOSTNCCL_TIMEOUT)", timeout.count()));
  }
}

/// The communicator is of no further use; the other ranks are told.
void Track::give_up(ncclResult_t code, const std::string& why) {
  Communicator& c = *batch_.communicator;
  const std::string text = fmt::format("{} on rank {} of {}: {}", waiting_for(), c.rank(), c.size(), why);
  execution_.reset();
  point_to_point_.reset();
  tell_end();
  error_ = Error(code, text);
  c.fail(code, text);
  if (!c.interrupted()) c.control->report(text);
}

std::string Track::waiting_for() const {
  if (execution_) return fmt::format("{} (collective {})", describe(batch_.collectives[next_ - 1]), next_);
  return point_to_point_ ? point_to_point_->waiting_for() : "starting an operation";
}

}  // namespace detccl::hostnccl
