// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/lane.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "device/host/fold.h"
#include "nccl_api/border.h"
#include "nccl_api/connect.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settle.h"

namespace detccl::nccl_api {
namespace {

std::string range_name(const engine::Reduction& call) {
  constexpr std::array kNames = {"AllReduce", "ReduceScatter", "Reduce"};
  return fmt::format("{} of {} {}", kNames[static_cast<std::size_t>(call.collective)], call.count,
                     contract::name(call.type));
}

std::uint64_t nanoseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

Lane::Lane(std::shared_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)), entered_(communicator_->enter()) {
  if (!entered_) {
    result_ = fail(ncclInvalidUsage, communicator_->name() + ": another thread is running a reduction on it");
  } else if (communicator_->shadow() == nullptr) {
    // In a thread of its own: this one may be inside a group, and other communicators must go on meanwhile.
    connection_ = std::async(std::launch::async, [c = communicator_] { return connect(*c); });
  }
}

Lane::~Lane() {
  if (connection_.valid()) connection_.wait();
  execution_.reset();
  if (entered_) communicator_->leave();
}

bool Lane::progress() {
  if (result_ != ncclSuccess) return false;
  if (const ncclResult_t stopped = communicator_->stopped(); stopped != ncclSuccess) {
    give_up(stopped, "the communicator was aborted, revoked or destroyed");
    return false;
  }
  if (connecting()) return true;
  if (!execution_) {
    if (!more() || result_ != ncclSuccess) return false;
    const ncclResult_t started = guarded([this] {
      start_next();
      return ncclSuccess;
    });
    if (started != ncclSuccess) fail_with(started);
    return started == ncclSuccess;
  }
  const engine::Status status = execution_->progress();
  if (status == engine::Status::failed) fail_with(ncclRemoteError, execution_->failure());
  if (status == engine::Status::done) {
    finished_steps_ += execution_->steps() + 1;
    execution_.reset();
    const ncclResult_t result = guarded([this] { return ended(); });
    if (result != ncclSuccess) fail_with(result);
  }
  return result_ == ncclSuccess && (execution_ || more());
}

/// Whether the connection is still being made.
bool Lane::connecting() {
  if (!connection_.valid()) return false;
  if (connection_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return true;
  const ncclResult_t result = connection_.get();
  ++finished_steps_;
  if (result != ncclSuccess) fail_with(result);
  return false;
}

void Lane::start_next() {
  Sampling& sampling = communicator_->shadow()->sampling;
  if (barrier_due_) {
    part_ = Part::barrier;
    return start(sampling.agreement());
  }
  if (!asked_) {
    sample_ = sampling.choice.due(queue_.front().call);
    if (sample_ != Sample::no) return start_agreement();
  }
  asked_ = false;
  start_reduction();
}

void Lane::start_agreement() {
  Sampling& sampling = communicator_->shadow()->sampling;
  asked_ = true;
  before_ = nanoseconds(Clock::now() - queue_.front().called);
  sampling.willing = sampling.look_at(queue_.front());
  part_ = Part::agreement;
  start(sampling.agreement());
}

void Lane::start_reduction() {
  current_ = std::move(queue_.front());
  queue_.pop_front();
  part_ = Part::reduction;
  Shadow& shadow = *communicator_->shadow();
  if (shadow.teller != nullptr) shadow.teller->tell(current_.call, profile::Moment::enqueued);
  if (profile::Range::shown()) range_.emplace(range_name(current_.call).c_str());
  // Those of a group run beside each other.
  if (pair_ || (current_.alone && (observer() != nullptr || profile::Range::shown()))) phases_.emplace();
  if (current_.scalar_memory != nullptr)
    current_.call.scalar = read_scalar(current_.call.type, current_.scalar_memory);
  call_ = current_.call;
  const auto ranks = static_cast<std::uint32_t>(communicator_->ranks());
  if (!engine::is_scaled_sum(call_, ranks)) return start(call_);
  scaled_.emplace(shadow.planner.settings().contract, call_,
                  static_cast<std::uint32_t>(communicator_->rank()), ranks, 0, call_.count);
  products_.resize(scaled_->products() * scaled_->product_size());
  const device::host::Operand values{call_.send, plan::Form::raw};
  if (phases_) phases_->enter(engine::Phase::fold);
  device::host::fold(shadow.planner.arithmetic(call_), {&values, 1}, products_.data(), plan::Form::partial,
                     scaled_->products());
  if (phases_) phases_->enter(engine::Phase::transfer);
  start(scaled_->sum(products_.data()));
}

void Lane::start(const engine::Reduction& call) {
  Shadow& shadow = *communicator_->shadow();
  execution_.emplace(*shadow.exchange, shadow.scratch, shadow.planner.arithmetic(call),
                     shadow.planner.jobs(call), shadow.sequence, phases_ ? &*phases_ : nullptr);
  ++shadow.sequence;
}

/// After the execution's end.
ncclResult_t Lane::ended() {
  if (part_ == Part::agreement) return after_agreement();
  if (part_ == Part::reduction) {
    after_reduction();
    return ncclSuccess;
  }
  barrier_due_ = false;
  if (!pair_->begun) {
    pair_->begun = true;
    barrier_due_ = pair_->native_first;
    return pair_->native_first ? run_native(queue_.front()) : ncclSuccess;
  }
  if (pair_->native_first) return ncclSuccess;
  const ncclResult_t result = run_native(current_);
  if (result == ncclSuccess) tell_pair();
  return result;
}

ncclResult_t Lane::after_agreement() {
  Shadow& shadow = *communicator_->shadow();
  Sampling& sampling = shadow.sampling;
  if (sampling.agreed == Sampling::not_at_all) {
    profile::Operation more;
    more.reason = sampling.obstacle() != nullptr ? sampling.obstacle() : "elsewhere";
    if (shadow.teller != nullptr)
      shadow.teller->tell(queue_.front().call, profile::Moment::not_paired, 0, more);
    return ncclSuccess;
  }
  pair_.emplace();
  pair_->native_first = sampling.take_turn();
  barrier_due_ = true;
  // Its first run is not the one that counts: what is seldom used is in no cache.
  return run_native(queue_.front());
}

void Lane::after_reduction() {
  if (phases_) phases_->enter(engine::Phase::fold);
  finish();
  range_.reset();
  if (!phases_) return;
  phases_->stop();
  const std::uint64_t took = nanoseconds(phases_->spent());
  if (pair_) {
    pair_->ours = before_ + took;
    pair_->native_first ? tell_pair() : static_cast<void>(barrier_due_ = true);
  } else if (const auto& teller = communicator_->shadow()->teller; teller != nullptr) {
    const auto spent = [this](engine::Phase phase) { return nanoseconds(phases_->spent(phase)); };
    profile::Operation more;
    more.transfer = spent(engine::Phase::transfer);
    more.fold = spent(engine::Phase::fold);
    more.wait = spent(engine::Phase::wait);
    teller->tell(call_, profile::Moment::measured, took, more);
  }
  phases_.reset();
}

ncclResult_t Lane::run_native(const QueuedReduction& reduction) {
  const profile::Range range("native");
  const auto began = Clock::now();
  const ncclResult_t result =
      settle(*communicator_, reduction.native(communicator_->shadow()->sampling.memory()));
  pair_->native = nanoseconds(Clock::now() - began);
  return result;
}

void Lane::tell_pair() {
  profile::Operation more;
  more.native = pair_->native;
  if (const auto& teller = communicator_->shadow()->teller; teller != nullptr)
    teller->tell(call_, sample_ == Sample::shadow ? profile::Moment::paired : profile::Moment::calibrated,
                 pair_->ours, more);
  pair_.reset();
}

/// The products' sum, rounded.
void Lane::finish() {
  if (!scaled_) return;
  if (scaled_->has_result()) {
    const device::host::Operand sum{scaled_->result(products_.data()), plan::Form::partial};
    device::host::fold(communicator_->shadow()->planner.arithmetic(call_), {&sum, 1}, call_.receive,
                       plan::Form::final, call_.count);
  }
  scaled_.reset();
}

void Lane::watch(Clock::time_point now) {
  if (result_ != ncclSuccess) return;
  if (steps() != steps_seen_) {
    steps_seen_ = steps();
    last_step_ = now;
  }
  ncclResult_t state = ncclSuccess;
  const auto asked = communicator_->with_handle(
      [&state](ncclComm_t handle) { return real().CommGetAsyncError(handle, &state); });
  if (asked == ncclSuccess && state != ncclSuccess && state != ncclInProgress) {
    fail_with(state, fmt::format("NCCL reports: {}", real().GetErrorString(state)));
    return;
  }
  constexpr std::chrono::seconds kUsual{600};
  const auto limit = runtime().environment.configuration().timeout.value_or(kUsual);
  if (limit.count() > 0 && now - last_step_ > limit && !connection_.valid())
    fail_with(ncclRemoteError, fmt::format("no progress for {} s (DETCCL_TIMEOUT)", limit.count()));
}

/// The communicator cannot be used any more: its ranks may have got different numbers of reductions done.
void Lane::fail_with(ncclResult_t code, const std::string& why) {
  if (communicator_->stopped() == ncclSuccess) communicator_->set_error(code);
  give_up(code, why);
}

void Lane::give_up(ncclResult_t code, const std::string& why) {
  if (!why.empty())
    static_cast<void>(fail(code, fmt::format("{}: reduction given up: {}", communicator_->name(), why)));
  result_ = code;
  execution_.reset();
  range_.reset();
  phases_.reset();
  pair_.reset();
  barrier_due_ = false;
  queue_.clear();
}

}  // namespace detccl::nccl_api
