// SPDX-License-Identifier: Apache-2.0
// Records on their way from a GPU to the host: a ring of slots in host memory that the device writes, and the
// device's own state of it. The producers' part is here, for the device and for tests alike; the consumer's
// is in ring_reader.h. Nothing in it waits: a record that finds no room is counted.
#pragma once

#include <cstdint>

#include "fingerprint/mix.h"

namespace detccl::recorder {

/// In host memory. A slot is written once it is free, and its `sequence` last. A detailed record (detail.h)
/// goes on in the slots that follow its own.
struct Slot {
  std::uint64_t sequence = 0;  ///< the slot's number in the ring, counted from 1; an earlier one: not written
  std::uint64_t site = 0;      ///< SiteTable's
  std::uint64_t index = 0;     ///< of the operation on its channel, from 0: those that were dropped count too
  std::uint64_t dropped = 0;   ///< records dropped before this one
  fingerprint::Sums input, output;
};
static_assert(sizeof(Slot) == 64);

/// In host memory, seen by both sides.
struct RingControl {
  alignas(64) std::uint64_t read = 0;     ///< slots that the host has done with
  alignas(64) std::uint64_t dropped = 0;  ///< records for which there was no room
};

/// In the device's memory.
struct RingState {
  std::uint64_t next = 0;       ///< slots taken
  std::uint64_t read_seen = 0;  ///< RingControl::read, when it was last looked at
  std::uint64_t dropped = 0;
};

struct Ring {
  Slot* slots = nullptr;
  RingControl* control = nullptr;
  RingState* state = nullptr;
  std::uint64_t capacity = 0;  ///< slots
};

/// A place in the ring that is to be written: all that follow wait for it.
struct Reserved {
  std::uint64_t index = 0;    ///< the operation's, of its channel
  std::uint64_t number = 0;   ///< of the slot
  std::uint64_t dropped = 0;  ///< records until then
  bool taken = false;         ///< false: there was no room
};

/// Of a place that was taken for a record that there will not be: no site's number.
inline constexpr std::uint64_t kNoSite = ~std::uint64_t{0};

/// What the digests of an operation's payloads are added up in, zero before it; in the device's memory.
struct Accumulator {
  fingerprint::Sums input, output;
  std::uint64_t parts = 0;   ///< of the kernel that writes the record: what has been added of it
  std::uint64_t failed = 0;  ///< how often by threads that have not come to their end
  Reserved place = {};       ///< where one was taken before the end
};

/// An operation that is to be recorded: the arguments of write_record().
struct Recording {
  Ring ring;
  std::uint64_t site = 0;
  std::uint64_t* operations = nullptr;
  Accumulator* accumulator = nullptr;
};

/// A record for which there is no room. `Memory`: atomic access to 64-bit words, as the side has it.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD void count_dropped(const Ring& ring) {
  Memory::maximum(ring.control->dropped, Memory::add(ring.state->dropped, 1) + 1);
}

/// Takes `count` slots in a row, capacity at most, or counts a record that finds none; `slot`: the first
/// one's number.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD bool take_slots(const Ring& ring, std::uint64_t count, std::uint64_t& slot) {
  std::uint64_t next = Memory::load(ring.state->next);
  for (;;) {
    if (next - Memory::load(ring.state->read_seen) >= ring.capacity - (count - 1)) {
      const std::uint64_t read = Memory::load_from_host(ring.control->read);
      Memory::store(ring.state->read_seen, read);
      // A slot's number that is out of date may be below `read`: then the exchange fails.
      if (static_cast<std::int64_t>(next - read) >= static_cast<std::int64_t>(ring.capacity - (count - 1))) {
        count_dropped<Memory>(ring);
        return false;
      }
    }
    const std::uint64_t seen = Memory::compare_exchange(ring.state->next, next, next + count);
    if (seen == next) break;
    next = seen;
  }
  slot = next;
  return true;
}

/// For an operation's record. `operations`: of its channel, counted here; one operation of a channel at a
/// time.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD Reserved reserve(const Ring& ring, std::uint64_t* operations) {
  Reserved place;
  place.index = (*operations)++;
  place.dropped = Memory::load(ring.state->dropped);
  place.taken = take_slots<Memory>(ring, 1, place.number);
  return place;
}

/// The record, in a place that was taken.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD void fill(const Ring& ring, std::uint64_t site, const Reserved& place,
                    const fingerprint::Sums& input, const fingerprint::Sums& output) {
  Slot& slot = ring.slots[place.number % ring.capacity];
  slot.site = site;
  slot.index = place.index;
  slot.dropped = place.dropped;
  slot.input = input;
  slot.output = output;
  Memory::publish(slot.sequence, place.number + 1);
}

/// One operation's record, of the accumulator's sums; that is zero again afterwards.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD void write_record(const Ring& ring, std::uint64_t site, std::uint64_t* operations,
                            Accumulator* accumulator) {
  const fingerprint::Sums input = {Memory::load(accumulator->input.a), Memory::load(accumulator->input.b)};
  const fingerprint::Sums output = {Memory::load(accumulator->output.a), Memory::load(accumulator->output.b)};
  *accumulator = {};
  const Reserved place = reserve<Memory>(ring, operations);
  if (place.taken) fill<Memory>(ring, site, place, input, output);
}

}  // namespace detccl::recorder
