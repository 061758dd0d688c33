// SPDX-License-Identifier: Apache-2.0
// The programs of one rank that were handed over together, carried out tick by tick: in every tick one group
// of transfers, then folds. Programs are put into waves; with several waves the transfers of one overlap the
// folds of another, each wave with scratch of its own. What happens in a tick is the same on every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/stream/stream_program.h"

namespace detccl::engine::stream {

/// A chunk of a collective call.
struct Task {
  std::shared_ptr<const StreamProgram> program;
  device::host::Arithmetic arithmetic;
  const std::byte* input = nullptr;  ///< element 0 of the program's regions
  std::byte* output = nullptr;
  std::uint64_t bytes = 0;       ///< of payload, the same on every rank
  std::uint64_t wave_bytes = 0;  ///< of payload that may be in one wave with it
};

/// What a batch is carried out with: one rank's communicator and device.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual void send(std::uint32_t peer, const void* data, std::size_t bytes) = 0;
  virtual void receive(std::uint32_t peer, void* data, std::size_t bytes) = 0;
  /// Every rank's `bytes` bytes at `from` to `to`, in rank order; `from` may be its own place there.
  virtual void all_gather(const void* from, void* to, std::size_t bytes) = 0;
  /// As device::host::fold(), of kMaxOperands operands at most.
  virtual void fold(const device::host::Arithmetic& arithmetic,
                    std::span<const device::host::Operand> operands, void* result, plan::Form form,
                    std::uint64_t count) = 0;
};

class Batch {
 public:
  /// Of several waves: the next one begins a tick or more after the one before, or when that one has ended.
  enum class Pace : std::uint8_t { overlapped, one_by_one };

  /// `scratch_limit`: bytes. Throws std::invalid_argument where a task alone needs more.
  Batch(std::vector<Task> tasks, std::size_t scratch_limit, Pace pace = Pace::overlapped);

  std::uint32_t ticks() const { return ticks_; }
  /// Several waves, unless one by one: the folds of tick t may run beside the transfers of tick t + 1, but
  /// must be complete before those of tick t + 2. Otherwise before those of tick t + 1. Transfers of a tick
  /// come before its folds.
  bool overlapped() const { return overlapped_; }
  std::size_t scratch() const { return rooms_ * room_bytes_; }  ///< bytes that it needs

  /// To be called for 0, 1 … ticks() - 1.
  void turn_to(std::uint32_t tick);
  /// What the tick has.
  bool has_transfers() const;
  bool is_one_gather() const;  ///< an all-gather, and no other transfer
  bool has_folds() const;
  /// Hands the tick's transfers over, which belong in one group; `scratch`: the batch's.
  void exchange(std::byte* scratch, Machine& machine) const;
  void fold(std::byte* scratch, Machine& machine) const;

 private:
  struct Wave {
    std::size_t first = 0, last = 0;  ///< tasks
    std::size_t scratch = 0;
    std::uint64_t bytes = 0, limit = 0;
  };
  struct Progress {
    std::size_t scratch = 0;  ///< bytes from where the scratch begins
    std::size_t next = 0;     ///< action
  };
  struct Current {
    const Task* task;
    const Action* action;
    std::size_t scratch;
  };

  void make_waves(std::size_t most_scratch);
  const std::vector<Action>& actions(const Task& task) const;
  std::uint32_t length(const Task& task) const;

  std::vector<Task> tasks_;
  std::vector<Progress> progress_;
  std::vector<Wave> waves_;
  std::vector<Current> current_;
  std::size_t room_bytes_ = 0, rooms_ = 1;
  std::uint32_t length_ = 0;    ///< of the longest wave
  std::uint32_t life_ = 1;      ///< of the scratch: waves so far apart may share it
  std::uint32_t interval_ = 1;  ///< between two waves' starts
  std::uint32_t ticks_ = 0;
  bool overlapped_ = false;
};

}  // namespace detccl::engine::stream
