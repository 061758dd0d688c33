// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/farewell.h"

#include <utility>

#include "engine/execution.h"

namespace detccl::nccl_api {
namespace {

using Done = transport::Completion::State;

/// The rounds' tags are this plus their distance, beside those of executions.
constexpr std::uint64_t kFarewellTag = std::uint64_t{1} << 40;
static_assert((kFarewellTag & engine::kExecutionTag) == 0);

}  // namespace

Farewell::Farewell(std::unique_ptr<transport::Exchange> exchange) : exchange_(std::move(exchange)) {
  start_round();
}

void Farewell::start_round() {
  const std::uint32_t size = exchange_->size();
  if (distance_ >= size) return;
  const std::uint32_t next = (exchange_->rank() + distance_) % size;
  const std::uint32_t previous = (exchange_->rank() + size - distance_) % size;
  exchange_->receive(previous, kFarewellTag + distance_, nullptr, 0, received_);
  exchange_->send(next, kFarewellTag + distance_, nullptr, 0, sent_);
}

bool Farewell::progress() {
  exchange_->progress();
  while (distance_ < exchange_->size()) {
    const Done sent = sent_.state.load(std::memory_order_acquire);
    const Done received = received_.state.load(std::memory_order_acquire);
    if (sent == Done::failed || received == Done::failed) return true;
    if (sent == Done::pending || received == Done::pending) return false;
    distance_ *= 2;
    start_round();
  }
  return true;
}

}  // namespace detccl::nccl_api
