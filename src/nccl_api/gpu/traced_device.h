// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/cuda/cuda_error.h"
#include "nccl_api/log.h"
#include "recorder/cuda/detailed.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/drain.h"
#include "recorder/recorder.h"
#include "recorder/sites.h"

namespace detccl::nccl_api::gpu {

/// Operations under way, and captured ones, of a device.
inline constexpr std::uint32_t kMostSites = 1U << 20;

inline std::uint64_t slots_for(const recorder::Options& options) {
  using recorder::cuda::DeviceRing;
  return options.chunk_bytes != 0 ? DeviceRing::kChunkSlots
         : options.detailed()     ? DeviceRing::kDetailedSlots
                                  : DeviceRing::kSlots;
}

/// One device's ring, and the thread that empties it.
class TracedDevice {
 public:
  explicit TracedDevice(recorder::Recorder& recorder) : sites_(kMostSites) {
    engine::cuda::check(recorder::cuda::load_kernels(), "loading the kernels that record");
    if (recorder.options().detailed())
      engine::cuda::check(recorder::cuda::load_detailed_kernels(), "loading the kernels that record");
    engine::cuda::check(memory_.init(slots_for(recorder.options())), "the ring of records");
    drain_ = std::make_unique<recorder::Drain>(
        recorder::RingReader(memory_.host_slots(), memory_.host_control(), memory_.ring().capacity), sites_,
        recorder,
        [] { log_line(LogLevel::warn, "trace: records are being dropped on the GPU, as the ring is full"); });
  }

  recorder::SiteTable& sites() { return sites_; }
  const recorder::Ring& ring() const { return memory_.ring(); }
  recorder::Accumulator* accumulator(std::uint32_t number) {
    const std::lock_guard lock(mutex_);
    recorder::Accumulator* at = nullptr;
    engine::cuda::check(memory_.accumulator(number, at), "memory for digests");
    return at;
  }
  recorder::Details details(std::uint32_t number, const recorder::Chunks& input,
                            const recorder::Chunks& output) {
    const std::lock_guard lock(mutex_);
    recorder::Details at;
    engine::cuda::check(memory_.details(number, input, output, at), "memory for digests of chunks");
    return at;
  }
  std::uint64_t* counter() {
    const std::lock_guard lock(mutex_);
    std::uint64_t* at = nullptr;
    engine::cuda::check(memory_.counter(at), "memory for counters");
    return at;
  }
  void close() { drain_->close(); }

 private:
  std::mutex mutex_;
  recorder::cuda::DeviceRing memory_;
  recorder::SiteTable sites_;
  std::unique_ptr<recorder::Drain> drain_;
};

}  // namespace detccl::nccl_api::gpu
