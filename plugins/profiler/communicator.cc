// SPDX-License-Identifier: Apache-2.0
#include "communicator.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace detccl::profiler {
namespace {

std::string_view text(const char* t) {
  return t == nullptr ? std::string_view{} : std::string_view{t};
}

void widen(std::uint64_t& began, std::uint64_t& ended, const Slot& child) {
  began = began == 0 ? child.began : std::min(began, child.began);
  ended = std::max(ended, child.ended);
}

std::uint64_t bytes_in(const Event& event) {
  return event.count * bytes_of(event.datatype);
}

/// A group's host time is that of the outermost call that the version tells of.
std::uint64_t group_kind(int version) {
  return version >= 5 ? abi::group_call : abi::group;
}

}  // namespace

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

bool is_foreign(const Event& event) {
  return event.kind == abi::proxy_operation && event.proxy_operation.pid != ::getpid();
}

Communicator::Communicator(std::uint16_t number, Identity identity) : number_(number), last_due_(now()) {
  known_.identity = std::move(identity);
  known_.began = known_.ended = last_due_;
}

Slot* Communicator::find(const void* opaque) {
  const auto handle = Handle::from(opaque);
  if (!handle || handle->communicator != number_) return nullptr;
  return slots_.find(*handle);
}

Class& Communicator::class_of(const Event& event) {
  const std::uint64_t bytes = bytes_in(event);
  const Less::View key{static_cast<unsigned>(std::bit_width(bytes)), text(event.function),
                       text(event.datatype), text(event.algorithm), text(event.protocol)};
  auto found = known_.classes.find(key);
  if (found == known_.classes.end()) {
    ClassKey copy{std::string(text(event.function)), std::string(text(event.datatype)),
                  std::string(text(event.algorithm)), std::string(text(event.protocol)), std::get<0>(key)};
    found = known_.classes.emplace(std::move(copy), Class{}).first;
  }
  return found->second;
}

void Communicator::introduce(const Event& event) {
  if (known_.identity.rank < 0) known_.identity.rank = event.rank;
  if (event.communicator == 0) return;
  known_.identity.communicator = event.communicator;
  known_.identity.name = text(event.communicator_name);
}

void* Communicator::start(const Event& event, bool wanted) {
  const std::uint64_t time = now();
  const bool operation = event.kind == abi::collective || event.kind == abi::point_to_point;
  const std::lock_guard lock(mutex_);
  known_.ended = time;
  if (operation && known_.identity.communicator == 0) introduce(event);
  std::uint32_t index = 0;
  Slot* slot = slots_.take(operation, index);
  if (slot == nullptr) {
    ++known_.dropped;
    return nullptr;
  }
  if (slot->of != nullptr) add_times(*slot, *slot->of);
  const std::uint32_t generation = slot->generation;
  *slot = {};
  slot->generation = generation;
  slot->kind = wanted ? event.kind : 0;
  slot->open = true;
  slot->operation = operation;
  slot->parent = is_foreign(event) ? nullptr : event.parent;
  slot->began = event.kind == abi::kernel_channel ? event.channel.timer : time;
  if (slot->began == 0) slot->began = time;  // version 3 has no timer of the GPU
  if (operation && wanted) {
    slot->of = &class_of(event);
    slot->of->count += 1;
    slot->of->in_steps.add(steps_begun());
    slot->of->bytes += bytes_in(event);
  }
  return Handle{number_, index, generation}.opaque();
}

void Communicator::observe(const profile::Operation& operation, profile::Moment moment,
                           std::uint64_t nanoseconds) {
  Event event;
  event.function = operation.function;
  event.datatype = operation.datatype;
  event.algorithm = "detccl";
  event.protocol = operation.schedule;
  event.count = operation.count;
  const std::uint64_t time = now();
  const std::lock_guard lock(mutex_);
  known_.ended = time;
  Class& of = class_of(event);
  switch (moment) {
    case profile::Moment::enqueued:
      of.count += 1;
      of.bytes += bytes_in(event);
      of.in_steps.add(steps_begun());
      return;
    case profile::Moment::measured:
      of.gpu.add(nanoseconds);
      of.transfer += operation.transfer;
      of.fold += operation.fold;
      of.wait += operation.wait;
      of.kernel += operation.kernel;
      return;
    case profile::Moment::paired:
      return of.pairs.add({nanoseconds, operation.native});
    case profile::Moment::calibrated:
      return of.calibration.add({nanoseconds, operation.native});
    case profile::Moment::not_paired:
      ++known_.not_paired[std::string(text(operation.reason))];
      return;
    default:
      return;
  }
}

void Communicator::set_chained(void* handle, void* chained) {
  const std::lock_guard lock(mutex_);
  if (Slot* slot = find(handle); slot != nullptr) slot->chained = chained;
}

void* Communicator::chained(const void* handle) {
  const std::lock_guard lock(mutex_);
  const Slot* slot = find(handle);
  return slot == nullptr ? nullptr : slot->chained;
}

void Communicator::kernel_stopped(const void* handle, std::uint64_t timer) {
  const std::lock_guard lock(mutex_);
  Slot* slot = find(handle);
  if (slot != nullptr && slot->open && slot->kind == abi::kernel_channel) slot->ended = timer;
}

void* Communicator::stop(const void* handle) {
  const std::uint64_t time = now();
  const std::lock_guard lock(mutex_);
  Slot* slot = find(handle);
  if (slot == nullptr || !slot->open) return nullptr;
  slot->open = false;
  if (slot->kind != abi::kernel_channel || slot->ended == 0) slot->ended = time;
  known_.ended = time;
  if (slot->kind == group_kind(known_.identity.version)) known_.groups.add(slot->ended - slot->began);
  count_for_parent(*slot);
  slots_.give_back(slot->operation, Handle::from(handle)->slot);
  return slot->chained;
}

void Communicator::count_for_parent(const Slot& child) {
  if (child.kind != abi::kernel_channel && child.kind != abi::proxy_operation) return;
  Slot* parent = find(child.parent);
  if (parent == nullptr || parent->of == nullptr || child.ended < child.began) return;
  if (child.kind == abi::kernel_channel) widen(parent->gpu_began, parent->gpu_ended, child);
  if (child.kind == abi::proxy_operation) widen(parent->network_began, parent->network_ended, child);
}

void Communicator::add_times(const Slot& slot, Class& to) {
  if (slot.gpu_ended != 0) to.gpu.add(slot.gpu_ended - slot.gpu_began);
  if (slot.network_ended != 0) to.network.add(slot.network_ended - slot.network_began);
}

Communicator::Snapshot Communicator::snapshot() {
  const std::lock_guard lock(mutex_);
  Snapshot snapshot = known_;
  std::map<const Class*, Class*> copies;
  auto copy = snapshot.classes.begin();
  for (const auto& [key, original] : known_.classes)
    copies[&original] = &copy++->second;
  for (const Slot& slot : slots_.all()) {
    if (slot.of != nullptr) add_times(slot, *copies.at(slot.of));
  }
  return snapshot;
}

bool Communicator::is_due(std::uint64_t period) {
  std::uint64_t last = last_due_;
  const std::uint64_t time = now();
  return time - last >= period && last_due_.compare_exchange_strong(last, time);
}

}  // namespace detccl::profiler
