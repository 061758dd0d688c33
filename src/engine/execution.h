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
#include "engine/phases.h"
#include "plan/plan.h"
#include "transport/exchange.h"

namespace detccl::engine {

/// One program with its pointers: element 0 of its input and output regions.
struct Job {
  std::shared_ptr<const plan::Program> program;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  plan::Spec spec{};  ///< what it is the program of; only engines on streams look at it
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
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::size_t limit_, size_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

/// An execution's tags have this bit set; tags without it are free for other uses of the exchange.
inline constexpr std::uint64_t kExecutionTag = std::uint64_t{1} << 47;

/// Jobs of one execution, and transfers between two ranks in one direction in one program: less than these.
inline constexpr std::size_t kMaxJobs = std::size_t{1} << 20;
inline constexpr const char* kTooManyChunks = "too many chunks in one call: use larger chunks";
inline constexpr std::uint32_t kMaxOrdinals = std::uint32_t{1} << 16;

/// Bytes of scratch that one job of `program` takes, alignment included.
std::size_t scratch_bytes(const plan::Program& program, const device::host::Arithmetic& arithmetic);

/// Jobs are started in their order, as many at a time as have room within the scratch's limit (one always),
/// so the lowest unfinished job is under way on every rank, and progress never depends on a later one.
/// Thread rule: as the exchange's. The exchange, the scratch and all buffers must outlive it.
class Execution {
 public:
  /// `sequence`: a number that all ranks give this call and no other one under way (its low 11 bits count).
  /// `phases`: told what its time goes into; may be null.
  /// Throws std::invalid_argument for kMaxJobs jobs or more, or kMaxOrdinals transfers or more.
  Execution(transport::Exchange& exchange, Scratch& scratch, const device::host::Arithmetic& arithmetic,
            std::vector<Job> jobs, std::uint32_t sequence, Phases* phases = nullptr);
  ~Execution();  ///< if still running: abandons the exchange
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Moves on without waiting: at most one stage's folds, so that the caller can look after other things.
  /// After done or failed it does nothing. When it fails it abandons the exchange: no buffer is touched
  /// again.
  Status progress();
  const std::string& failure() const;  ///< one line, after `failed`

  /// Stages finished so far: tells progress from waiting.
  std::uint64_t steps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace detccl::engine
