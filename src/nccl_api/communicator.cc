// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/communicator.h"

#include <fmt/format.h>
#include <cstring>

namespace detccl::nccl_api {

std::uint64_t read_scalar(contract::DataType type, const void* memory) {
  std::uint64_t bits = 0;  // little-endian: the low bytes come first
  std::memcpy(&bits, memory, contract::size_of(type));
  return bits;
}

std::string Communicator::name() const {
  return fmt::format("rank {} of {}", rank_, ranks_);
}

bool Communicator::enter() {
  const std::lock_guard lock(mutex_);
  if (busy_) return false;
  busy_ = true;
  return true;
}

void Communicator::leave() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  left_.notify_all();
}

std::shared_ptr<GpuShadow> Communicator::gpu() const {
  const std::lock_guard lock(mutex_);
  return gpu_;
}

void Communicator::set_gpu(std::shared_ptr<GpuShadow> shadow) {
  const std::lock_guard lock(mutex_);
  gpu_ = std::move(shadow);
}

std::shared_ptr<GpuShadow> Communicator::take_gpu() {
  const std::lock_guard lock(mutex_);
  return std::move(gpu_);
}

std::shared_ptr<GpuTraced> Communicator::gpu_traced() const {
  const std::lock_guard lock(mutex_);
  return gpu_traced_;
}

void Communicator::set_gpu_traced(std::shared_ptr<GpuTraced> traced) {
  const std::lock_guard lock(mutex_);
  gpu_traced_ = std::move(traced);
}

void Communicator::set_error(ncclResult_t code) {
  ncclResult_t none = ncclSuccess;
  error_.compare_exchange_strong(none, code);
}

void Communicator::stop(ncclResult_t code) {
  const std::lock_guard lock(mutex_);
  stopped_ = code;
}

std::unique_ptr<Shadow> Communicator::end_with_lock() {
  if (stopped_ == ncclSuccess) stopped_ = ncclInvalidUsage;
  return std::move(shadow_);
}

std::unique_ptr<Shadow> Communicator::retire() {
  std::unique_lock lock(mutex_);
  left_.wait(lock, [this] { return !busy_; });
  return end_with_lock();
}

bool Communicator::try_retire(std::unique_ptr<Shadow>& shadow) {
  const std::lock_guard lock(mutex_);
  if (busy_) return false;
  shadow = end_with_lock();
  return true;
}

std::optional<ncclResult_t> Communicator::with_handle(const std::function<ncclResult_t(ncclComm_t)>& use) {
  const std::lock_guard lock(mutex_);
  if (stopped_ != ncclSuccess) return std::nullopt;
  return use(handle_);
}

void Communicator::add_op(ncclRedOp_t op, const PreMulSum& definition) {
  const std::lock_guard lock(mutex_);
  ops_[op] = definition;
}

void Communicator::remove_op(ncclRedOp_t op) {
  const std::lock_guard lock(mutex_);
  ops_.erase(op);
}

std::optional<PreMulSum> Communicator::find_op(ncclRedOp_t op) const {
  const std::lock_guard lock(mutex_);
  const auto found = ops_.find(op);
  return found == ops_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace detccl::nccl_api
