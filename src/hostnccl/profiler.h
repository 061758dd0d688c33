// SPDX-License-Identifier: Apache-2.0
// NCCL's profiler plugins (NCCL_PROFILER_PLUGIN), by version 5 of their interface: what NCCL tells them, as
// far as host memory has it. An operation's work is told as that of one kernel channel, by the host's clock.
#pragma once

#include <cstdint>

#include "hostnccl/operation.h"

namespace detccl::hostnccl {

/// One communicator's. Nothing happens without a plugin. Nothing here throws.
class Profiler {
 public:
  Profiler() = default;
  ~Profiler() { end(); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// `communicator`: the same on all its ranks. The plugin is opened by the first call of the process.
  void begin(std::uint64_t communicator, std::uint32_t rank, std::uint32_t size) noexcept;
  void end() noexcept;

  /// An operation under way.
  struct Event {
    void* operation = nullptr;
    void* kernel = nullptr;
  };
  Event start(const Operation& operation) noexcept;
  void stop(const Event& event) noexcept;

 private:
  void tell_group() noexcept;

  void* context_ = nullptr;
  int rank_ = 0;
};

}  // namespace detccl::hostnccl
