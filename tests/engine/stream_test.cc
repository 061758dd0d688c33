// SPDX-License-Identifier: Apache-2.0
// Batches of stream programs: timetables that pair, waves that overlap, the reference's bits.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <gtest/gtest.h>

#include "engine/stream/lanes.h"
#include "engine/stream/task_source.h"
#include "engine/stream/timetable.h"
#include "virtual_streams.h"

namespace detccl::test {
namespace {

using plan::Collective;
using plan::Schedule;

constexpr std::array kSchedules = {Schedule::gather,
                                   Schedule::direct,
                                   Schedule::ring,
                                   Schedule::tree,
                                   Schedule::halving,
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 4),
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 2, 4),
                                   plan::hier(plan::Kind::halving, plan::Kind::direct, 4),
                                   plan::hier(plan::Kind::direct, plan::Kind::direct, 2)};

class Streams : public testing::TestWithParam<Schedule> {
 protected:
  Streams() : seed_(std::random_device{}()), random_(seed_) { std::printf("seed %u\n", seed_); }

  Case random_case(std::uint64_t most) {
    Case c;
    c.ranks = static_cast<std::uint32_t>(1 + random_() % 13);
    randomise(c, random_, most);
    const auto contracts = contracts_for(GetParam());
    c.settings.contract = contracts[random_() % contracts.size()];
    c.settings.schedule = GetParam();
    return c;
  }

  unsigned seed_;
  Random random_;
};

TEST_P(Streams, OneCallInOneWaveIsTheReference) {
  for (int i = 0; i < 100; ++i) {
    Case c = random_case(300);
    c.settings.chunk_bytes = 1u << 20;
    c.settings.scratch_limit = 16u << 20;
    EXPECT_EQ(check_streams({c}, random_() % 2 == 0, random_), "") << describe(c);
  }
}

TEST_P(Streams, ManyWavesAreTheReference) {
  int overlapped = 0;
  for (int i = 0; i < 100; ++i) {
    Case c = random_case(1000);
    c.settings.chunk_bytes = 64 + random_() % 500;
    // Room for few waves. A chain needs a few slots of scratch, the others one of every rank.
    const bool chained = GetParam() == Schedule::ring || GetParam() == Schedule::tree;
    c.settings.scratch_limit = (chained ? 5000 : 1100 * (c.ranks + 12)) + random_() % 5000;
    EXPECT_EQ(check_streams({c}, random_() % 2 == 0, random_), "") << describe(c);
    overlapped += run_streams({c}, true, random_).overlapped ? 1 : 0;
  }
  EXPECT_GT(overlapped, 10);
}

TEST_P(Streams, ChunksDealtToLanesAreTheReference) {
  int several = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<Case> cases{random_case(1000)};
    engine::Settings& settings = cases[0].settings;
    settings.lanes = static_cast<std::uint32_t>(2 + random_() % 4);
    settings.chunk_bytes = 64 + random_() % 500;
    const bool chained = GetParam() == Schedule::ring || GetParam() == Schedule::tree;
    const std::size_t least = chained ? 2500 : 550 * (cases[0].ranks + 12);
    settings.scratch_limit = settings.lanes * (least + random_() % 5000);
    while (cases.size() < 1 + static_cast<std::size_t>(i) % 3) {
      Case more = cases[0];
      const engine::Settings same = more.settings;
      randomise(more, random_, 200);
      more.settings = same;
      cases.push_back(more);
    }
    EXPECT_EQ(check_streams(cases, random_() % 2 == 0, random_), "") << describe(cases[0]);
    several += run_streams(cases, true, random_).lanes > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 10);
}

TEST_P(Streams, CallsHandedOverTogetherAreTheReference) {
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<Case> cases{random_case(200)};
    cases[0].settings.chunk_bytes = 64 + random_() % 4000;
    cases[0].settings.scratch_limit = 100'000 + random_() % 200'000;
    while (cases.size() < 2 + i % 4) {
      Case more = cases[0];
      const engine::Settings settings = more.settings;
      randomise(more, random_, 200);
      more.settings = settings;
      cases.push_back(more);
    }
    EXPECT_EQ(check_streams(cases, random_() % 2 == 0, random_), "") << describe(cases[0]);
  }
}

TEST_P(Streams, TimetablesPairForAnyNumberOfRanks) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 17u, 64u, 100u}) {
    Case c = random_case(1);
    c.ranks = ranks;
    c.root = ranks / 2;
    c.count = 70;
    c.collective = GetParam() == Schedule::ring ? Collective::reduce : Collective::all_reduce;
    c.settings.chunk_bytes = 64;
    c.settings.scratch_limit = 4u << 20;
    EXPECT_EQ(check_streams({c}, false, random_), "") << describe(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Streams, testing::ValuesIn(kSchedules), [](const auto& p) {
  std::string text = plan::name(p.param);
  std::erase(text, ')');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '(' || c == ',' || c == '/' || c == ':'; }, '_');
  return text;
});

plan::Spec spec_of(Collective collective, Schedule schedule, std::uint32_t ranks) {
  plan::Spec spec;
  spec.collective = collective;
  spec.schedule = schedule;
  spec.contract.order = schedule == Schedule::ring ? contract::Order::linear : contract::Order::tree;
  spec.ranks = ranks;
  spec.count = spec.stride = 1000;
  return spec;
}

// A chain passes a chunk on in every tick: as many ticks as the chain has links, there and back.
TEST(Timetables, ARingTakesTwoTicksALinkWithoutOverlap) {
  const auto tables =
      engine::stream::timetables(spec_of(Collective::all_reduce, Schedule::ring, 8), {0, 7}, 1);
  EXPECT_EQ(tables[0].length, 14u);
  EXPECT_EQ(tables[0].transfers.front(), 0u);  // sends its value at once …
  EXPECT_EQ(tables[0].transfers.back(), 13u);  // … and gets the result last
  EXPECT_EQ(tables[1].transfers.front(), 6u);
}

TEST(Timetables, ATreeTakesLogarithmicallyManyTicks) {
  const auto tables =
      engine::stream::timetables(spec_of(Collective::all_reduce, Schedule::tree, 1024), {0}, 1);
  EXPECT_LE(tables[0].length, 21u);
}

/// Takes no longer than the own program: all ranks go in step.
TEST(Timetables, HalvingTakesOneTickALevelAndItsFoldsMoreWhenTheyOverlap) {
  const plan::Spec spec = spec_of(Collective::all_reduce, Schedule::halving, 1024);
  EXPECT_EQ(engine::stream::timetables(spec, {0}, 1)[0].length, 16u);  // 8 ranks, then 7 doublings, and back
  EXPECT_EQ(engine::stream::timetables(spec, {1023}, 2)[0].length, 24u);
}

TEST(Timetables, DirectIsTwoExchanges) {
  const auto tables =
      engine::stream::timetables(spec_of(Collective::all_reduce, Schedule::direct, 8), {3}, 2);
  EXPECT_EQ(tables[0].length, 3u);
}

std::vector<engine::stream::Task> tasks_of(const plan::Spec& spec, const engine::Settings& settings) {
  engine::stream::TaskSource source(settings, 0, spec.ranks, true);
  engine::Reduction call{.collective = spec.collective, .count = spec.count};
  std::vector<engine::stream::Task> tasks;
  source.append(call, tasks);
  return tasks;
}

TEST(Gathers, EqualShardsAreGatheredAtOnceAndUnequalOnesAreNot) {
  plan::Spec spec = spec_of(Collective::all_reduce, Schedule::direct, 8);
  const auto gathered = [&](std::uint64_t count) {
    spec.count = count;
    engine::Settings settings;
    settings.schedule = Schedule::direct;
    const auto tasks = tasks_of(spec, settings);
    return tasks.at(0).program->serial.at(1).all_gather;
  };
  EXPECT_TRUE(gathered(8 * 16 * 10));
  EXPECT_FALSE(gathered(8 * 16 * 10 + 1));
}

TEST(Lanes, ChunksGoInTurnAndAreFoldedInLine) {
  const plan::Spec spec = spec_of(Collective::all_reduce, Schedule::direct, 8);
  engine::Settings settings;
  settings.schedule = Schedule::direct;
  settings.lanes = 3;
  settings.chunk_bytes = 1000;  // four chunks
  const auto batches = engine::stream::deal(tasks_of(spec, settings), settings.scratch_limit, settings.lanes);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].ticks(), 4u);  // two chunks, two exchanges each
  EXPECT_EQ(batches[1].ticks(), 2u);
  EXPECT_EQ(batches[2].ticks(), 2u);
  for (const engine::stream::Batch& batch : batches)
    EXPECT_FALSE(batch.overlapped());
}

TEST(Lanes, OneWaveOrOneLaneIsABatchAsWithoutLanes) {
  const plan::Spec spec = spec_of(Collective::all_reduce, Schedule::direct, 8);
  engine::Settings settings;
  settings.schedule = Schedule::direct;
  EXPECT_EQ(engine::stream::deal(tasks_of(spec, settings), settings.scratch_limit, 4).size(), 1u);
  settings.chunk_bytes = 1000;
  const auto batches = engine::stream::deal(tasks_of(spec, settings), settings.scratch_limit, 1);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_TRUE(batches[0].overlapped());
}

TEST(Batches, AChunkThatNeedsMoreScratchThanThereIsIsRefused) {
  const plan::Spec spec = spec_of(Collective::all_reduce, Schedule::gather, 8);
  engine::Settings settings;
  settings.schedule = Schedule::gather;
  EXPECT_THROW(engine::stream::Batch(tasks_of(spec, settings), 1000), std::invalid_argument);
}

TEST(Batches, FoldsOfMoreOperandsThanAKernelTakesGoThroughPartials) {
  std::random_device device;
  Random random(device());
  for (const contract::Order order : {contract::Order::tree, contract::Order::linear}) {
    Case c;
    c.ranks = 1100;
    c.type = contract::DataType::bfloat16;
    c.count = 3;
    c.seed = random();
    c.collective = Collective::reduce;  // one rank folds
    c.settings.contract.order = order;
    c.settings.schedule = Schedule::gather;
    EXPECT_EQ(check_streams({c}, true, random), "") << describe(c);
  }
}

}  // namespace
}  // namespace detccl::test
