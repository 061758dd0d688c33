// SPDX-License-Identifier: Apache-2.0
// The events of one communicator that are under way, or were a moment ago. NCCL goes on naming an operation
// as the parent of others after it has stopped it, for as long as the GPU is behind, and does not say when
// that ends; so an operation's slot is used again only after those of many others, and a number in each
// handle tells its users apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace detccl::profiler {

class Class;

/// What NCCL holds for an event: never a pointer, so that a stale or foreign one is harmless.
struct Handle {
  std::uint16_t communicator = 0;  ///< not 0
  std::uint32_t slot = 0;          ///< below 2^24
  std::uint32_t generation = 0;    ///< likewise

  static std::optional<Handle> from(const void* opaque);
  void* opaque() const;
};

struct Slot {
  std::uint64_t kind = 0;
  std::uint32_t generation = 0;
  bool open = false;
  bool operation = false;              ///< collective or point-to-point
  Class* of = nullptr;                 ///< collectives and point-to-point operations
  void* parent = nullptr;              ///< of their children: their handle
  std::uint64_t began = 0, ended = 0;  ///< nanoseconds, of the clock that the kind is measured with
  // What its children took together, of a collective or point-to-point operation; 0 … 0 if there were none.
  std::uint64_t gpu_began = 0, gpu_ended = 0;
  std::uint64_t network_began = 0, network_ended = 0;
  void* chained = nullptr;  ///< the other plugin's handle
};

class Slots {
 public:
  /// Slots that rest: of operations, and of other events.
  static constexpr std::size_t kOperationsResting = 8192, kOthersResting = 64;
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  /// A slot that nothing uses, with its last user's data; null if there are too many open. Its generation is
  /// new, the rest is left to the caller.
  Slot* take(bool operation, std::uint32_t& index);
  /// As it was taken.
  void give_back(bool operation, std::uint32_t index) { resting(operation).push_back(index); }
  Slot* find(const Handle& handle);
  std::deque<Slot>& all() { return slots_; }

 private:
  std::deque<std::uint32_t>& resting(bool operation) { return operation ? operations_ : others_; }

  std::deque<Slot> slots_;
  std::deque<std::uint32_t> operations_, others_;  ///< the one that rested longest first
};

}  // namespace detccl::profiler
