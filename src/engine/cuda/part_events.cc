// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/part_events.h"

#include <exception>

namespace detccl::engine::cuda {

PartEvents::~PartEvents() {
  for (const cudaEvent_t event : events_)
    tolerate(cudaEventDestroy(event));
}

void PartEvents::begin(std::uint32_t ticks) noexcept {
  timeline_.begin(ticks);
  failed_ = false;
}

void PartEvents::enter(stream::Part part, std::uint32_t tick, cudaStream_t stream) noexcept {
  record(stream, [&] { return timeline_.enter(part, tick); });
}

void PartEvents::end(cudaStream_t stream) noexcept {
  record(stream, [&] { return timeline_.end(); });
}

template <class Marked>
void PartEvents::record(cudaStream_t stream, Marked&& marked) noexcept {
  if (failed_) return;
  failed_ = true;
  try {
    if (marked()) {
      if (timeline_.marks().size() > events_.size()) add();
      check(cudaEventRecord(events_[timeline_.marks().size() - 1], stream), "cudaEventRecord");
    }
    failed_ = false;
  } catch (const std::exception&) {  // then nothing is known of the call
  }
}

void PartEvents::add() {
  events_.reserve(events_.size() + 1);
  const OutsideCapture outside;
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  events_.push_back(event);
}

stream::Timeline::Times PartEvents::times() const noexcept {
  if (failed_ || timeline_.marks().size() < 2) return {};
  try {
    std::vector<std::uint64_t> between;
    for (std::size_t i = 0; i + 1 < timeline_.marks().size(); ++i)
      between.push_back(nanoseconds_between(events_[i], events_[i + 1]));
    return timeline_.sums(between);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace detccl::engine::cuda
