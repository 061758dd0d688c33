// SPDX-License-Identifier: Apache-2.0
#include "recorder/ring_reader.h"

#include <atomic>

#include "recorder/detail.h"

namespace detccl::recorder {

bool RingReader::written() const {
  return std::atomic_ref(slots_[read_ % capacity_].sequence).load(std::memory_order_acquire) == read_ + 1;
}

void RingReader::done(std::uint64_t slots) {
  read_ += slots;
  std::atomic_ref(control_->read).store(read_, std::memory_order_release);
}

bool RingReader::next(Slot& slot) {
  if (!written()) return false;
  slot = slots_[read_ % capacity_];
  done(1);
  return true;
}

bool RingReader::next(Slot& slot, std::vector<Slot>& further) {
  if (!written()) return false;
  slot = slots_[read_ % capacity_];
  further.resize(further_in(slots_[(read_ + 1) % capacity_]).slots);
  for (std::uint64_t i = 0; i < further.size(); ++i)
    further[i] = slots_[(read_ + 1 + i) % capacity_];
  done(1 + further.size());
  return true;
}

std::uint64_t RingReader::dropped() const {
  return std::atomic_ref(control_->dropped).load(std::memory_order_relaxed);
}

}  // namespace detccl::recorder
