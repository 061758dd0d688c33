// SPDX-License-Identifier: Apache-2.0
// The memory of one device's ring, of what records are gathered in, and of its counts of operations. Never
// freed: graphs that record may be replayed at any time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/detail.h"

namespace detccl::recorder::cuda {

/// All of the device that is current where init() is called. One thread at a time.
class DeviceRing {
 public:
  static constexpr std::uint64_t kSlots = std::uint64_t{1} << 16;
  /// Of rings of detailed records: without chunk tables, for as many records; with them, for three of the
  /// longest at least (64 MB).
  static constexpr std::uint64_t kDetailedSlots = 2 * kSlots, kChunkSlots = std::uint64_t{1} << 20;

  DeviceRing() = default;
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;

  /// Allocates, and waits for a stream of its own. Not on a thread whose captures forbid that.
  cudaError_t init(std::uint64_t slots = kSlots);

  /// For kernels, and for the host.
  const Ring& ring() const { return ring_; }
  Slot* host_slots() const { return host_slots_; }
  RingControl* host_control() const { return host_control_; }

  /// The accumulator of this number, and a counter that has not been given before. They begin as zero.
  /// Further memory is allocated where it is needed, also while the thread is capturing other streams.
  cudaError_t accumulator(std::uint32_t number, Accumulator*& at);
  cudaError_t counter(std::uint64_t*& at);

  /// For detailed records, instead of an accumulator: likewise by its number. An operation that needs more
  /// than those that had the number before it gets other memory.
  cudaError_t details(std::uint32_t number, const Chunks& input, const Chunks& output, Details& at);

 private:
  struct Gathered {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
  };
  cudaError_t allocate(void*& memory, std::size_t bytes);
  cudaError_t map_host_memory(std::size_t bytes, void*& host, void*& device);

  Ring ring_;
  Slot* host_slots_ = nullptr;
  RingControl* host_control_ = nullptr;
  std::vector<Accumulator*> accumulators_;  ///< pages
  std::vector<std::uint64_t*> counters_;
  std::size_t counters_given_ = 0;
  std::vector<Gathered> details_;
  Gathered rest_;  ///< of the page that is being given away
};

}  // namespace detccl::recorder::cuda
