// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/lane.h"

#include <fmt/format.h>

#include "device/host/fold.h"
#include "nccl_api/border.h"
#include "nccl_api/connect.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {

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
    if (queue_.empty() || result_ != ncclSuccess) return false;
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
    finish();
    finished_steps_ += execution_->steps() + 1;
    execution_.reset();
  }
  return result_ == ncclSuccess && (execution_ || !queue_.empty());
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
  QueuedReduction next = queue_.front();
  queue_.pop_front();
  if (next.scalar_memory != nullptr) next.call.scalar = read_scalar(next.call.type, next.scalar_memory);
  Shadow& shadow = *communicator_->shadow();
  call_ = next.call;
  const auto ranks = static_cast<std::uint32_t>(communicator_->ranks());
  if (engine::is_scaled_sum(call_, ranks)) {
    scaled_.emplace(shadow.planner.settings().contract, call_,
                    static_cast<std::uint32_t>(communicator_->rank()), ranks, 0, call_.count);
    products_.resize(scaled_->products() * scaled_->product_size());
    const device::host::Operand values{call_.send, plan::Form::raw};
    device::host::fold(shadow.planner.arithmetic(call_), {&values, 1}, products_.data(), plan::Form::partial,
                       scaled_->products());
    next.call = scaled_->sum(products_.data());
  }
  execution_.emplace(*shadow.exchange, shadow.scratch, shadow.planner.arithmetic(next.call),
                     shadow.planner.jobs(next.call), shadow.sequence);
  ++shadow.sequence;
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
  const auto limit = runtime().environment.configuration().timeout;
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
  queue_.clear();
}

}  // namespace detccl::nccl_api
