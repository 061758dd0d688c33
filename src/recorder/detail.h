// SPDX-License-Identifier: Apache-2.0
// Detailed records: when an operation began and ended on the device, and the sums of each chunk of its
// payloads. In a ring of such records each one's slot is followed by one for each chunk of the longer
// payload, at least one. The producers' part, for the device and for tests alike; RingReader has the
// consumer's.
#pragma once

#include <cstdint>

#include "recorder/chunks.h"
#include "recorder/ring.h"

namespace detccl::recorder {

/// Nanoseconds of the device's clock.
struct Times {
  std::uint64_t began = 0, ended = 0;
};

/// What the details of one operation are gathered in: the device's memory, zero before it.
struct Details {
  Times* times = nullptr;
  fingerprint::Sums *input = nullptr, *output = nullptr;  ///< of each chunk
  Chunks input_chunks, output_chunks;
};

/// Slots that follow the record's own.
DETCCL_HD std::uint64_t further_slots(const Details& details) {
  const std::uint64_t in = details.input_chunks.count, out = details.output_chunks.count;
  const std::uint64_t longer = in > out ? in : out;
  return longer > 1 ? longer : 1;
}

/// What the first of them has beside its chunk's sums, in fields that are something else in a record's own.
struct Further {
  std::uint64_t slots = 0;  ///< with the first
  Times times;
};
DETCCL_HD void put(Slot& first, const Further& further) {
  first.site = further.slots;
  first.index = further.times.began;
  first.dropped = further.times.ended;
}
DETCCL_HD Further further_in(const Slot& first) {
  return {first.site, {first.index, first.dropped}};
}

/// Begins an operation's record: takes its slots, `number` being its own, and fills them but for the chunks.
/// False if it was dropped. `operations`: as in write_record().
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD bool begin_record(const Ring& ring, std::uint64_t site, std::uint64_t* operations,
                            const Details& details, std::uint64_t& number) {
  const std::uint64_t index = (*operations)++;
  const Further further{further_slots(details), *details.times};
  *details.times = {};
  if (further.slots >= ring.capacity) {
    count_dropped<Memory>(ring);
    return false;
  }
  if (!take_slots<Memory>(ring, 1 + further.slots, number)) return false;
  Slot& slot = ring.slots[number % ring.capacity];
  slot.site = site;
  slot.index = index;
  slot.dropped = Memory::load(ring.state->dropped);
  put(ring.slots[(number + 1) % ring.capacity], further);
  return true;
}

/// Moves the sums of chunk `i`, below further_slots(), to its slot, or nowhere. Then they are zero.
DETCCL_HD void move_chunk(const Ring& ring, const Details& details, std::uint64_t i, bool taken,
                          std::uint64_t number) {
  fingerprint::Sums input, output;
  if (i < details.input_chunks.count) {
    input = details.input[i];
    details.input[i] = {};
  }
  if (i < details.output_chunks.count) {
    output = details.output[i];
    details.output[i] = {};
  }
  if (!taken) return;
  Slot& slot = ring.slots[(number + 1 + i) % ring.capacity];
  slot.input = input;
  slot.output = output;
}

/// Ends the record, when all of its chunks are there.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <class Memory>
DETCCL_HD void end_record(const Ring& ring, std::uint64_t number) {
  Memory::publish(ring.slots[number % ring.capacity].sequence, number + 1);
}

}  // namespace detccl::recorder
