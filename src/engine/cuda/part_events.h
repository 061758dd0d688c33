// SPDX-License-Identifier: Apache-2.0
// How long a call's parts (stream/timeline.h) take on its stream, by CUDA events that are looked at later.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/resources.h"
#include "engine/stream/timeline.h"

namespace detccl::engine::cuda {

/// Of one call at a time. The events belong to the device that is current when they are first needed, and
/// are used again. Never throws, and leaves no error behind: what cannot be timed is not.
class PartEvents {
 public:
  PartEvents() = default;
  ~PartEvents();
  PartEvents(const PartEvents&) = delete;
  PartEvents& operator=(const PartEvents&) = delete;

  /// What there was of another call is forgotten.
  void clear() noexcept { begin(0); }

  // While the call is put on its stream, in this order:
  void begin(std::uint32_t ticks) noexcept;
  void enter(stream::Part part, std::uint32_t tick, cudaStream_t stream) noexcept;
  void end(cudaStream_t stream) noexcept;

  /// When the stream is past the call: nanoseconds; all 0 where they are not known.
  stream::Timeline::Times times() const noexcept;

 private:
  template <class Marked>
  void record(cudaStream_t stream, Marked&& marked) noexcept;
  void add();

  stream::Timeline timeline_;
  std::vector<cudaEvent_t> events_;  ///< of the marks, and more from other calls
  bool failed_ = false;
};

}  // namespace detccl::engine::cuda
