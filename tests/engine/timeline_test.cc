// SPDX-License-Identifier: Apache-2.0
// Which parts of a plan are timed, and what comes of their times.
#include "engine/stream/timeline.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "cases.h"
#include "engine/stream/lanes.h"
#include "engine/stream/task_source.h"

namespace detccl::test {
namespace {

using engine::stream::Part;
using engine::stream::Timeline;

std::size_t index_of(Part part) {
  return static_cast<std::size_t>(part);
}

/// As a call of `ticks` ticks goes onto a stream, each with transfers that take 1000 and folds that take 10.
struct Call {
  explicit Call(std::uint32_t ticks) {
    timeline.begin(ticks);
    for (std::uint32_t tick = 0; tick < ticks; ++tick) {
      part(Part::transfer, tick, 1000);
      part(Part::fold, tick, 10);
    }
    timeline.end();
  }
  void part(Part part, std::uint32_t tick, std::uint64_t time) {
    if (timeline.enter(part, tick)) between.push_back(0);
    between.back() += time;
  }

  Timeline timeline;
  std::vector<std::uint64_t> between;
};

TEST(Timeline, EveryTickOfAnOrdinaryCall) {
  for (const std::uint32_t ticks : {1u, 2u, 7u, 255u}) {
    const Call call(ticks);
    EXPECT_EQ(call.timeline.marks().size(), 2 * ticks + 1);
    EXPECT_LE(call.timeline.marks().size(), Timeline::kMostMarks);
    EXPECT_EQ(call.timeline.sums(call.between), (Timeline::Times{1000 * ticks, 10 * ticks, 0}));
  }
}

TEST(Timeline, OfALongCallTicksThatAreSpreadEvenly) {
  for (const std::uint32_t ticks : {256u, 340u, 341u, 1000u, 5000u, 1'000'000u}) {
    const Call call(ticks);
    EXPECT_LE(call.timeline.marks().size(), Timeline::kMostMarks) << ticks;
    const auto [transfer, fold, kernel] = call.timeline.sums(call.between);
    EXPECT_EQ(transfer, 100 * fold) << "what is timed is whole ticks";
    EXPECT_GE(fold / 10, 85u) << ticks;
    EXPECT_LT(transfer + fold, std::uint64_t{1010} * ticks);
    EXPECT_EQ(kernel, 0u);
  }
}

TEST(Timeline, NeighboursOfOneKindAreOnePart) {
  Timeline timeline;
  timeline.begin(4);
  EXPECT_FALSE(timeline.end()) << "nothing has begun";
  EXPECT_TRUE(timeline.enter(Part::transfer, 0));
  EXPECT_FALSE(timeline.enter(Part::transfer, 1));
  EXPECT_FALSE(timeline.enter(Part::transfer, 2));
  EXPECT_TRUE(timeline.enter(Part::fold, 2));
  EXPECT_FALSE(timeline.enter(Part::fold, 3));
  EXPECT_TRUE(timeline.end());
  EXPECT_FALSE(timeline.end());
  EXPECT_EQ(timeline.sums(std::vector<std::uint64_t>{300, 40}), (Timeline::Times{300, 40, 0}));
  timeline.begin(1);
  EXPECT_EQ(timeline.marks().size(), 0u) << "another call";
  EXPECT_EQ(timeline.sums({}), Timeline::Times{});
  EXPECT_TRUE(timeline.enter(Part::kernel, 0));
  EXPECT_TRUE(timeline.end());
  EXPECT_EQ(timeline.sums(std::vector<std::uint64_t>{5}), (Timeline::Times{0, 0, 5}));
}

/// Marks of a reduction's batch, as Run puts them: what begins at each.
std::vector<Part> marks_of(const engine::Settings& settings, std::uint64_t count) {
  engine::Reduction call;
  call.count = count;
  std::vector<engine::stream::Task> tasks;
  engine::stream::TaskSource(settings, 1, 4, true).append(call, tasks);
  auto batches = engine::stream::deal(std::move(tasks), settings.scratch_limit, 1);
  engine::stream::Batch& batch = batches.front();
  Timeline timeline;
  timeline.begin(batch.ticks());
  for (std::uint32_t tick = 0; tick < batch.ticks(); ++tick) {
    batch.turn_to(tick);
    if (batch.has_transfers()) timeline.enter(Part::transfer, tick);
    if (batch.has_folds()) timeline.enter(Part::fold, tick);
  }
  timeline.end();
  std::vector<Part> marks(timeline.marks().begin(), timeline.marks().end());
  std::printf("%u ticks, %zu marks\n", batch.ticks(), marks.size());
  EXPECT_LE(marks.size(), Timeline::kMostMarks);
  return marks;
}

TEST(Timeline, OfRealPlans) {
  engine::Settings settings = engine::gpu_defaults();
  const auto counted = [](const std::vector<Part>& marks) {
    std::array<std::size_t, 4> found{};
    for (const Part part : marks)
      ++found[index_of(part)];
    return found;
  };
  settings.schedule = plan::Schedule::gather;
  EXPECT_EQ(marks_of(settings, 1000), (std::vector{Part::transfer, Part::fold, Part::rest}));
  settings.schedule = plan::Schedule::direct;
  EXPECT_EQ(marks_of(settings, 1000), (std::vector{Part::transfer, Part::fold, Part::transfer, Part::rest}));
  // A gigabyte: many waves.
  const auto direct = counted(marks_of(settings, std::uint64_t{1} << 28));
  EXPECT_GT(direct[index_of(Part::fold)], 10u);
  EXPECT_EQ(direct[index_of(Part::rest)], 1u) << "all of them are timed";
  settings.schedule = plan::Schedule::tree;
  settings.chunk_bytes = 16u << 10;
  const auto tree = counted(marks_of(settings, std::uint64_t{1} << 28));
  EXPECT_GT(tree[index_of(Part::rest)], 1u) << "not all of so many";
  EXPECT_GT(tree[index_of(Part::fold)], 50u);
}

}  // namespace
}  // namespace detccl::test
