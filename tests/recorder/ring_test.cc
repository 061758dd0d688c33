// SPDX-License-Identifier: Apache-2.0
// The device's part of the ring, played by threads of the host with the same functions.
#include "recorder/ring.h"

#include <cstdlib>
#include <iostream>
#include <random>
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
  const char* chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  std::mt19937_64 random(seed);
  Memory memory(1 + random() % 64);
  RingReader reader = memory.reader();
  read_many_writers(
      memory, reader, 20000,
      [](const Ring& ring, std::uint64_t w, std::uint64_t* operations, std::uint64_t i) {
        Accumulator accumulator{{w, i}, {i, w}};
        write_record<HostMemory>(ring, w, operations, &accumulator);
      },
      [&](Slot& slot) { return reader.next(slot); },
      [](const Slot& slot) {
        EXPECT_EQ(slot.input, (fingerprint::Sums{slot.site, slot.index}));
        EXPECT_EQ(slot.output, (fingerprint::Sums{slot.index, slot.site}));
      });
}

}  // namespace
}  // namespace detccl::recorder
