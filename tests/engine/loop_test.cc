// SPDX-License-Identifier: Apache-2.0
// The engine over in-process exchanges, against the reference evaluator.
#include <atomic>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "run_executions.h"
#include "virtual_ranks.h"

namespace detccl::test {
namespace {

using plan::Collective;
using plan::Schedule;

constexpr Schedule kSchedules[] = {Schedule::gather,
                                   Schedule::direct,
                                   Schedule::ring,
                                   Schedule::tree,
                                   Schedule::halving,
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 4),
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 2, 4),
                                   plan::hier(plan::Kind::halving, plan::Kind::direct, 4),
                                   plan::hier(plan::Kind::direct, plan::Kind::direct, 2)};
constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::reduce};

std::uint64_t new_seed() {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// Every schedule x collective x contract once, the rest at random.
void check_all(std::uint32_t ranks, std::uint64_t most, Random& random, Delivery delivery) {
  for (const Schedule schedule : kSchedules)
    for (const Collective collective : kCollectives)
      for (const contract::Contract& contract : contracts_for(schedule)) {
        Case c;
        c.ranks = ranks;
        c.collective = collective;
        c.settings.schedule = schedule;
        c.settings.contract = contract;
        randomise(c, random, most);
        EXPECT_EQ(check_virtual(c, delivery), "") << describe(c);
        if (testing::Test::HasFailure()) return;
      }
}

TEST(EngineLoop, EqualsTheReferenceFor1To16Ranks) {
  Random random(new_seed());
  for (std::uint32_t ranks = 1; ranks <= 16; ++ranks)
    check_all(ranks, 400, random, Delivery::prompt);
}

TEST(EngineLoop, EqualsTheReferenceWhateverTheOrderOfDelivery) {
  Random random(new_seed());
  for (const std::uint32_t ranks : {2u, 3u, 5u, 8u, 13u})
    check_all(ranks, 300, random, Delivery::shuffled);
}

TEST(EngineLoop, EqualsTheReferenceForHundredsOfRanks) {
  Random random(new_seed());
  for (const std::uint32_t ranks : {33u, 100u, 128u, 512u}) {
    for (int i = 0; i < (ranks < 200 ? 8 : 2); ++i) {
      Case c;
      c.ranks = ranks;
      c.collective = kCollectives[random() % 3];
      c.settings.schedule =
          kSchedules[(static_cast<std::uint32_t>(i) * 4 + ranks / 256) % std::size(kSchedules)];
      // A chain for each shard: over so many ranks too slow under a sanitizer.
      const bool chained = c.settings.schedule == Schedule::ring || c.settings.schedule == Schedule::tree;
      if (chained && ranks > 200 && c.collective == Collective::reduce_scatter)
        c.collective = Collective::all_reduce;
      const auto contracts = contracts_for(*c.settings.schedule);
      c.settings.contract = contracts[random() % contracts.size()];
      randomise(c, random, ranks < 200 ? 200 : 12);
      EXPECT_EQ(check_virtual(c), "") << describe(c);
    }
  }
}

TEST(EngineLoop, AThousandRanksByHier) {
  Random random(new_seed());
  for (const std::uint32_t ranks : {1024u, 1003u}) {
    Case c;
    c.ranks = ranks;
    c.count = 3000;
    c.type = contract::DataType::bfloat16;
    c.settings.schedule = plan::hier(plan::Kind::direct, plan::Kind::halving, 0);
    c.settings.group = 8;
    c.settings.chunk_bytes = 4000;
    c.seed = random();
    EXPECT_EQ(check_virtual(c), "") << describe(c);
  }
}

/// Large enough for the chunks, windows and schedules that are chosen by default.
TEST(EngineLoop, EqualsTheReferenceWithDefaults) {
  Random random(new_seed());
  for (const std::uint64_t count : {std::uint64_t{1000}, std::uint64_t{50000}, std::uint64_t{300001}}) {
    for (const Collective collective : kCollectives) {
      Case c;
      c.ranks = 3;
      c.collective = collective;
      c.count = count;
      c.seed = random();
      EXPECT_EQ(check_virtual(c), "") << describe(c);
    }
  }
}

/// Each rank in a thread of its own, several calls one after the other over the same exchanges.
TEST(EngineLoop, RanksInThreads) {
  const std::uint64_t seed = new_seed();
  constexpr std::uint32_t kRanks = 4;
  std::vector<Case> cases;
  Random random(seed);
  for (const Schedule schedule : kSchedules)
    for (const Collective collective : kCollectives) {
      Case c;
      c.ranks = kRanks;
      c.collective = collective;
      c.settings.schedule = schedule;
      c.settings.contract = contracts_for(schedule)[0];
      randomise(c, random, 3000);
      cases.push_back(c);
    }
  transport::LoopFabric fabric(kRanks);
  std::vector<std::vector<Bytes>> outputs(kRanks);
  std::vector<std::string> failures(kRanks);
  const auto drive = [&](std::uint32_t rank) {
    const auto exchange = fabric.exchange(rank);
    engine::Scratch scratch(1u << 20);
    std::uint32_t sequence = 2040;  // and past the 11 bits that count
    for (const Case& c : cases) {
      const Buffers buffers(c, rank);
      engine::Planner planner(c.settings, rank, kRanks);
      engine::Execution execution(*exchange, scratch, planner.arithmetic(buffers.call()),
                                  planner.jobs(buffers.call()), sequence++);
      engine::Execution* const all[] = {&execution};
      failures[rank] += engine::run(all, {}).failure + buffers.damage();
      outputs[rank].push_back(buffers.output());
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < kRanks; ++r)
    threads.emplace_back(drive, r);
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<Bytes> inputs;
    for (std::uint32_t r = 0; r < kRanks; ++r)
      inputs.push_back(input_of(cases[i], r));
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      EXPECT_EQ(failures[r], "") << "seed " << seed;
      EXPECT_TRUE(outputs[r][i] == expected_of(cases[i], r, inputs)) << describe(cases[i]);
    }
  }
}

/// One thread drives several communicators at once.
TEST(EngineLoop, OneThreadRunsSeveralExecutions) {
  Case c;
  c.ranks = 4;
  c.count = 5000;
  c.settings.schedule = Schedule::tree;
  c.settings.chunk_bytes = 1000;
  c.seed = new_seed();
  transport::LoopFabric fabric(c.ranks);
  std::vector<std::unique_ptr<transport::Exchange>> exchanges;
  std::vector<std::unique_ptr<Buffers>> buffers;
  std::vector<engine::Scratch> scratches;
  std::vector<std::unique_ptr<engine::Execution>> executions;
  std::vector<engine::Execution*> pointers;
  std::vector<Bytes> inputs;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    scratches.emplace_back(c.settings.scratch_limit);
  for (std::uint32_t r = 0; r < c.ranks; ++r) {
    exchanges.push_back(fabric.exchange(r));
    buffers.push_back(std::make_unique<Buffers>(c, r));
    engine::Planner planner(c.settings, r, c.ranks);
    const engine::Reduction call = buffers[r]->call();
    executions.push_back(std::make_unique<engine::Execution>(
        *exchanges[r], scratches[r], planner.arithmetic(call), planner.jobs(call), 0));
    pointers.push_back(executions.back().get());
    inputs.push_back(input_of(c, r));
  }
  const engine::Outcome outcome = engine::run(pointers, {});
  EXPECT_EQ(outcome.status, engine::Status::done) << outcome.failure;
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    EXPECT_TRUE(buffers[r]->output() == expected_of(c, r, inputs)) << r;
}

}  // namespace
}  // namespace detccl::test
