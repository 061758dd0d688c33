// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

namespace detccl::profiler {
namespace {

constexpr unsigned kSlotBits = 24, kGenerationBits = 24;
constexpr std::uint32_t kGenerations = (1u << kGenerationBits) - 1;

}  // namespace

std::optional<Handle> Handle::from(const void* opaque) {
  const auto bits = reinterpret_cast<std::uintptr_t>(opaque);
  const Handle handle{static_cast<std::uint16_t>(bits >> (kSlotBits + kGenerationBits)),
                      static_cast<std::uint32_t>(bits) & ((1u << kSlotBits) - 1),
                      static_cast<std::uint32_t>(bits >> kSlotBits) & kGenerations};
  if (handle.communicator == 0) return std::nullopt;
  return handle;
}

void* Handle::opaque() const {
  const std::uintptr_t bits = (static_cast<std::uintptr_t>(communicator) << (kSlotBits + kGenerationBits)) |
                              (static_cast<std::uintptr_t>(generation) << kSlotBits) | slot;
  return reinterpret_cast<void*>(bits);
}

Slot* Slots::take(bool operation, std::uint32_t& index) {
  std::deque<std::uint32_t>& rest = resting(operation);
  if (rest.size() <= (operation ? kOperationsResting : kOthersResting) && slots_.size() < kMost) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else if (!rest.empty()) {
    index = rest.front();
    rest.pop_front();
  } else {
    return nullptr;
  }
  Slot& slot = slots_[index];
  slot.generation = (slot.generation + 1) & kGenerations;
  return &slot;
}

Slot* Slots::find(const Handle& handle) {
  if (handle.slot >= slots_.size()) return nullptr;
  Slot& slot = slots_[handle.slot];
  return slot.generation == handle.generation ? &slot : nullptr;
}

}  // namespace detccl::profiler
