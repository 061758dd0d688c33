// SPDX-License-Identifier: Apache-2.0
// Detailed records in a ring, played by threads of the host with the device's functions.
#include "recorder/detail.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "host_ring.h"

namespace detccl::recorder {
namespace {

using fingerprint::Sums;

/// What an operation's details are gathered in.
struct Gathered {
  Gathered(std::uint64_t in, std::uint64_t out) : input(in), output(out) {}
  Details details() { return {&times, input.data(), output.data(), {16, input.size()}, {16, output.size()}}; }
  void fill(std::uint64_t by) {
    times = {by + 1, by + 2};
    for (std::uint64_t i = 0; i < input.size(); ++i)
      input[i] = {by, i};
    for (std::uint64_t i = 0; i < output.size(); ++i)
      output[i] = {i, by};
  }
  bool clear() const {
    const auto zero = [](const Sums& sums) { return sums == Sums{}; };
    return times.began == 0 && times.ended == 0 && std::all_of(input.begin(), input.end(), zero) &&
           std::all_of(output.begin(), output.end(), zero);
  }
  Times times;
  std::vector<Sums> input, output;
};

/// As the kernel does it, in one thread.
void write(const Ring& ring, std::uint64_t site, std::uint64_t* operations, const Details& details) {
  std::uint64_t number = 0;
  const bool taken = begin_record<HostMemory>(ring, site, operations, details, number);
  for (std::uint64_t i = 0; i < further_slots(details); ++i)
    move_chunk(ring, details, i, taken, number);
  if (taken) end_record<HostMemory>(ring, number);
}

/// What fill() had put there.
void expect(const std::vector<Slot>& further, std::uint64_t in, std::uint64_t out, std::uint64_t by) {
  ASSERT_EQ(further.size(), std::max<std::uint64_t>({in, out, 1}));
  EXPECT_EQ(further_in(further[0]).times.began, by + 1);
  EXPECT_EQ(further_in(further[0]).times.ended, by + 2);
  for (std::uint64_t i = 0; i < further.size(); ++i) {
    EXPECT_EQ(further[i].input, (i < in ? Sums{by, i} : Sums{})) << i;
    EXPECT_EQ(further[i].output, (i < out ? Sums{i, by} : Sums{})) << i;
  }
}

TEST(Detail, RecordsOfAllLengthsArriveAndWhatTheyWereGatheredInIsCleared) {
  Memory memory(17);
  RingReader reader = memory.reader();
  std::uint64_t operations = 0;
  Slot slot;
  std::vector<Slot> further;
  EXPECT_FALSE(reader.next(slot, further));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t in = i % 5, out = i % 17;
    Gathered gathered(in, out);
    gathered.fill(i);
    write(memory.ring(), 7 + i, &operations, gathered.details());
    EXPECT_TRUE(gathered.clear());
    ASSERT_TRUE(reader.next(slot, further));
    EXPECT_EQ(slot.site, 7 + i);
    EXPECT_EQ(slot.index, i);
    EXPECT_EQ(slot.dropped, 0u);
    expect(further, in, out, i);
    EXPECT_FALSE(reader.next(slot, further));
  }
  EXPECT_EQ(reader.dropped(), 0u);
}

TEST(Detail, WhatHasNoRoomIsDroppedWholeAndCounted) {
  Memory memory(8);
  RingReader reader = memory.reader();
  std::uint64_t operations = 0;
  const auto put = [&](std::uint64_t chunks) {
    Gathered gathered(chunks, chunks);
    gathered.fill(5);
    write(memory.ring(), chunks, &operations, gathered.details());
    EXPECT_TRUE(gathered.clear());
  };
  put(3);  // four slots
  put(4);  // five: there are but four
  put(3);
  put(1);
  put(8);  // never
  EXPECT_EQ(reader.dropped(), 3u);
  Slot slot;
  std::vector<Slot> further;
  for (const std::uint64_t index : {0U, 2U}) {
    ASSERT_TRUE(reader.next(slot, further));
    EXPECT_EQ(slot.index, index) << "those that were dropped count";
    expect(further, 3, 3, 5);
  }
  EXPECT_EQ(slot.dropped, 1u);
  EXPECT_FALSE(reader.next(slot, further));
  put(7);
  ASSERT_TRUE(reader.next(slot, further));
  EXPECT_EQ(slot.index, 5u);
  EXPECT_EQ(slot.dropped, 3u);
  expect(further, 7, 7, 5);
}

TEST(Detail, ManyWritersAtOnce) {
  const char* chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  std::mt19937_64 random(seed);
  Memory memory(12 + random() % 64);
  const auto chunks_in = [](std::uint64_t writer, std::uint64_t i) { return (writer + i) % 10; };
  RingReader reader = memory.reader();
  std::vector<Slot> further;
  read_many_writers(
      memory, reader, 5000,
      [&](const Ring& ring, std::uint64_t w, std::uint64_t* operations, std::uint64_t i) {
        Gathered gathered(chunks_in(w, i), w);
        gathered.fill(i);
        write(ring, w, operations, gathered.details());
      },
      [&](Slot& slot) { return reader.next(slot, further); },
      [&](const Slot& slot) { expect(further, chunks_in(slot.site, slot.index), slot.site, slot.index); });
}

}  // namespace
}  // namespace detccl::recorder
