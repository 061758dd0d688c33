// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/communicator.h"

#include <utility>

namespace detccl::hostnccl {

ncclResult_t Communicator::result() {
  const ncclResult_t result = result_.load(std::memory_order_acquire);
  if (result != ncclSuccess) return result;
  const std::string failure = control->failure();
  if (failure.empty()) return ncclSuccess;
  fail(ncclRemoteError, failure);
  return result_.load(std::memory_order_acquire);
}

void Communicator::check_usable() {
  if (revoked.load(std::memory_order_acquire))
    throw Error(ncclInvalidUsage, "the communicator has been revoked");
  check_ready();
  if (finalized.load(std::memory_order_acquire)) {
    throw Error(ncclInvalidUsage, "the communicator has been finalized");
  }
}

void Communicator::check_ready() {
  const ncclResult_t now = result();
  if (now == ncclSuccess) return;
  if (now == ncclInProgress) {
    throw Error(
        ncclInvalidArgument,
        "the communicator is used before its initialisation, or another operation in progress, is complete");
  }
  throw Error(now, failure_text());
}

void Communicator::fail(ncclResult_t code, const std::string& text) {
  const std::lock_guard lock(text_mutex_);
  const ncclResult_t before = result_.load(std::memory_order_acquire);
  if (before != ncclSuccess && before != ncclInProgress) return;
  failure_text_ = text;
  result_.store(code, std::memory_order_release);
}

std::string Communicator::failure_text() const {
  const std::lock_guard lock(text_mutex_);
  return failure_text_;
}

void Communicator::set_ready() {
  const std::lock_guard lock(text_mutex_);
  if (result_.load(std::memory_order_acquire) == ncclInProgress) {
    result_.store(ncclSuccess, std::memory_order_release);
  }
}

}  // namespace detccl::hostnccl
