// SPDX-License-Identifier: Apache-2.0
// Runs programs on host memory over an exchange. A collective call becomes jobs, one per chunk; a window of
// jobs is in flight at a time, each with scratch of its own, so that one chunk's fold overlaps another's
// transfers. A state machine: progress() never blocks, so one thread can drive many communicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/host/fold.h"
#include "plan/plan.h"
#include "transport/exchange.h"

namespace detccl::engine {

/// One program with its pointers: element 0 of its input and output regions.
struct Job {
  std::shared_ptr<const plan::Program> program;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

enum class Status : std::uint8_t { running, done, failed };

/// Scratch of one communicator: allocated as needed up to `limit` bytes, kept for the next call.
/// Used by one execution at a time.
class Scratch {
 public:
  explicit Scratch(std::size_t limit) : limit_(limit) {}
  std::size_t limit() const { return limit_; }
  /// At least `bytes`, 64-byte aligned, contents undefined; valid until the next call.
  std::byte* reserve(std::size_t bytes);

 private:
  struct Free { void operator()(std::byte* p) const; };
  std::size_t limit_, size_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

/// Thread rule: as the exchange's. The exchange, the scratch and all buffers must outlive it.
class Execution {
 public:
  /// `sequence`: a number that all ranks give this call and no other one under way (its low 11 bits count).
  Execution(transport::Exchange& exchange, Scratch& scratch, const device::host::Arithmetic& arithmetic,
            std::vector<Job> jobs, std::uint32_t sequence);
  ~Execution();  ///< if still running: abandons the exchange
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Moves on as far as possible without waiting. After done or failed it does nothing.
  Status progress();
  const std::string& failure() const;  ///< one line, after `failed`

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detccl::engine
