// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/point_to_point.h"

#include <cstring>

#include <fmt/format.h>

#include "hostnccl/error.h"

namespace detccl::hostnccl {
namespace {

/// The one tag of all sends: equal tags pair in order. The engine's tags are others (kExecutionTag).
constexpr std::uint64_t kTag = 1;
static_assert((kTag & engine::kExecutionTag) == 0);

std::size_t bytes_of(const Operation& o) {
  return o.count * contract::size_of(o.type);
}

void copy_to_self(const std::vector<const Operation*>& sends, const std::vector<const Operation*>& receives) {
  if (sends.size() != receives.size()) {
    throw Error(ncclInvalidUsage,
                fmt::format("a rank that sends to itself must receive in the same group: this one "
                            "has {} such sends and {} such receives",
                            sends.size(), receives.size()));
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (bytes_of(*sends[i]) != bytes_of(*receives[i])) {
      throw Error(ncclInvalidUsage, fmt::format("a rank sends {} bytes to itself and receives {}",
                                                bytes_of(*sends[i]), bytes_of(*receives[i])));
    }
  }
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (sends[i]->count != 0) std::memmove(receives[i]->receive, sends[i]->send, bytes_of(*sends[i]));
  }
}

}  // namespace

PointToPoint::PointToPoint(transport::Exchange& exchange, const std::vector<Operation>& operations)
    : exchange_(exchange) {
  std::vector<const Operation*> own_sends, own_receives;
  for (const Operation& o : operations) {
    if (o.root != exchange.rank()) {
      operations_.push_back(o);
    } else {
      (o.kind == Kind::send ? own_sends : own_receives).push_back(&o);
    }
  }
  copy_to_self(own_sends, own_receives);
  completions_ = std::make_unique<transport::Completion[]>(operations_.size());
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& o = operations_[i];
    if (o.kind == Kind::receive) exchange.receive(o.root, kTag, o.receive, bytes_of(o), completions_[i]);
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& o = operations_[i];
    if (o.kind == Kind::send) exchange.send(o.root, kTag, o.send, bytes_of(o), completions_[i]);
  }
}

PointToPoint::~PointToPoint() {
  if (status_ == engine::Status::running) exchange_.abandon();
}

engine::Status PointToPoint::progress() {
  if (status_ != engine::Status::running) return status_;
  exchange_.progress();
  while (completed_ < operations_.size()) {
    const auto state = completions_[completed_].state.load(std::memory_order_acquire);
    if (state == transport::Completion::State::pending) return status_;
    if (state == transport::Completion::State::failed) {
      exchange_.abandon();
      failure_ = exchange_.failure();
      return status_ = engine::Status::failed;
    }
    ++completed_;
  }
  if (!exchange_.settled()) return status_;
  return status_ = engine::Status::done;
}

std::string PointToPoint::waiting_for() const {
  if (completed_ >= operations_.size()) return "sends and receives that are complete but for their last word";
  const Operation& o = operations_[completed_];
  return fmt::format("{} {} rank {}", describe(o), o.kind == Kind::send ? "to" : "from", o.root);
}

}  // namespace detccl::hostnccl
