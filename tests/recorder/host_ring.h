// SPDX-License-Identifier: Apache-2.0
// A ring whose producers are threads of the host.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "recorder/ring.h"
#include "recorder/ring_reader.h"

namespace detccl::recorder {

struct HostMemory {
  using Word = std::uint64_t;
  static Word load(Word& x) { return std::atomic_ref(x).load(); }
  static void store(Word& x, Word value) { std::atomic_ref(x).store(value); }
  static Word load_from_host(Word& x) { return std::atomic_ref(x).load(std::memory_order_acquire); }
  static Word compare_exchange(Word& x, Word expected, Word value) {
    std::atomic_ref(x).compare_exchange_strong(expected, value);
    return expected;
  }
  static Word add(Word& x, Word value) { return std::atomic_ref(x).fetch_add(value); }
  static void maximum(Word& x, Word value) {
    Word now = load(x);
    while (now < value && !std::atomic_ref(x).compare_exchange_weak(now, value)) {
    }
  }
  static void publish(Word& x, Word value) { std::atomic_ref(x).store(value, std::memory_order_release); }
};

struct Memory {
  explicit Memory(std::uint64_t capacity) : slots(capacity) {}
  Ring ring() { return {slots.data(), &control, &state, slots.size()}; }
  RingReader reader() { return {slots.data(), &control, slots.size()}; }
  std::vector<Slot> slots;
  RingControl control;
  RingState state;
};

/// Many threads write at once, each `each` records, by write(ring, writer, &its count of operations, i); a
/// slot's site is the writer. `next`: the reader's next record. `check`: what else a record must be.
template <class Write, class Next, class Check>
void read_many_writers(Memory& memory, RingReader& reader, std::uint64_t each, const Write& write,
                       const Next& next, const Check& check) {
  constexpr std::uint64_t kWriters = 4;
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      std::uint64_t operations = 0;
      for (std::uint64_t i = 0; i < each; ++i) {
        write(memory.ring(), w, &operations, i);
        if (i % 8 == 0) std::this_thread::yield();
      }
    });
  }
  std::thread ender([&] {
    for (std::thread& writer : writers)
      writer.join();
    done = true;
  });
  std::uint64_t read = 0;
  std::vector<std::uint64_t> expected(kWriters);
  for (bool last = false; !last;) {
    last = done;
    for (Slot slot; next(slot); ++read) {
      EXPECT_LT(slot.site, kWriters);
      if (slot.site >= kWriters) continue;
      EXPECT_GE(slot.index, expected[slot.site]) << "in the writer's order";
      expected[slot.site] = slot.index + 1;
      check(slot);
    }
  }
  ender.join();
  EXPECT_EQ(read + reader.dropped(), kWriters * each) << "every record has arrived or was counted";
}

}  // namespace detccl::recorder
