// SPDX-License-Identifier: Apache-2.0
// The device's part of the ring, played by threads of the host with the same functions.
#include "recorder/ring.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host_ring.h"

namespace detccl::recorder {
namespace {

TEST(Ring, RecordsArriveInOrderAndAccumulatorsAreCleared) {
  Memory memory(4);
  RingReader reader = memory.reader();
  std::uint64_t operations = 0;
  Slot slot;
  EXPECT_FALSE(reader.next(slot));
  for (std::uint64_t i = 0; i < 100; ++i) {
    Accumulator accumulator{{i, i + 1}, {i + 2, i + 3}};
    write_record<HostMemory>(memory.ring(), 7 + i, &operations, &accumulator);
    EXPECT_EQ(accumulator.input, fingerprint::Sums{});
    EXPECT_EQ(accumulator.output, fingerprint::Sums{});
    ASSERT_TRUE(reader.next(slot));
    EXPECT_EQ(slot.site, 7 + i);
    EXPECT_EQ(slot.index, i);
    EXPECT_EQ(slot.input, (fingerprint::Sums{i, i + 1}));
    EXPECT_EQ(slot.output, (fingerprint::Sums{i + 2, i + 3}));
    EXPECT_FALSE(reader.next(slot));
  }
  EXPECT_EQ(reader.dropped(), 0u);
}

TEST(Ring, FullRingDropsAndCounts) {
  Memory memory(4);
  RingReader reader = memory.reader();
  std::uint64_t operations = 0;
  Accumulator accumulator;
  const auto write = [&] { write_record<HostMemory>(memory.ring(), 0, &operations, &accumulator); };
  for (int i = 0; i < 10; ++i)
    write();
  EXPECT_EQ(reader.dropped(), 6u);
  Slot slot;
  for (std::uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(reader.next(slot));
    EXPECT_EQ(slot.index, i);
    EXPECT_EQ(slot.dropped, 0u);
  }
  EXPECT_FALSE(reader.next(slot));
  write();
  ASSERT_TRUE(reader.next(slot));
  EXPECT_EQ(slot.index, 10u) << "those that were dropped count";
  EXPECT_EQ(slot.dropped, 6u);
}

TEST(Ring, ManyWritersAtOnce) {
  constexpr std::uint64_t kWriters = 4, kEach = 20000;
  const char* chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  std::mt19937_64 random(seed);
  Memory memory(1 + random() % 64);
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&memory, w] {
      std::uint64_t operations = 0;
      for (std::uint64_t i = 0; i < kEach; ++i) {
        Accumulator accumulator{{w, i}, {i, w}};
        write_record<HostMemory>(memory.ring(), w, &operations, &accumulator);
        if (i % 16 == 0) std::this_thread::yield();
      }
    });
  }
  std::thread ender([&] {
    for (std::thread& writer : writers)
      writer.join();
    done = true;
  });
  RingReader reader = memory.reader();
  std::uint64_t read = 0;
  std::vector<std::uint64_t> next(kWriters);
  for (bool last = false; !last;) {
    last = done;
    for (Slot slot; reader.next(slot); ++read) {
      ASSERT_LT(slot.site, kWriters);
      EXPECT_GE(slot.index, next[slot.site]) << "in the writer's order";
      next[slot.site] = slot.index + 1;
      EXPECT_EQ(slot.input, (fingerprint::Sums{slot.site, slot.index}));
      EXPECT_EQ(slot.output, (fingerprint::Sums{slot.index, slot.site}));
    }
  }
  ender.join();
  EXPECT_EQ(read + reader.dropped(), kWriters * kEach) << "every record has arrived or was counted";
}

}  // namespace
}  // namespace detccl::recorder
