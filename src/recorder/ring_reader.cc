// SPDX-License-Identifier: Apache-2.0
#include "recorder/ring_reader.h"

#include <atomic>

namespace detccl::recorder {

bool RingReader::next(Slot& slot) {
  Slot& from = slots_[read_ % capacity_];
  if (std::atomic_ref(from.sequence).load(std::memory_order_acquire) != read_ + 1) return false;
  slot = from;
  ++read_;
  std::atomic_ref(control_->read).store(read_, std::memory_order_release);
  return true;
}

std::uint64_t RingReader::dropped() const {
  return std::atomic_ref(control_->dropped).load(std::memory_order_relaxed);
}

}  // namespace detccl::recorder
