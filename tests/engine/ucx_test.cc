// SPDX-License-Identifier: Apache-2.0
// The engine between processes, over UCX, against the reference evaluator.
#include <array>
#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "../transport/processes.h"
#include "cases.h"
#include "run_executions.h"
#include "transport/ucx/ucx_exchange.h"

namespace detccl::test {
namespace {

using plan::Collective;
using plan::Schedule;

std::unique_ptr<transport::Exchange> connect(const Process& process) {
  auto worker = std::make_unique<transport::UcxWorker>();
  auto addresses = process.all_gather(worker->address());
  return transport::UcxWorker::connect(std::move(worker), process.rank(), std::move(addresses));
}

std::vector<Case> random_cases(std::uint64_t seed, std::uint32_t ranks, int number) {
  Random random(seed);
  std::vector<Case> cases;
  for (int i = 0; i < number; ++i) {
    Case c;
    c.ranks = ranks;
    c.collective = static_cast<Collective>(random() % 3);
    const std::array schedules = {Schedule::gather,  Schedule::direct,
                                  Schedule::ring,    Schedule::tree,
                                  Schedule::halving, plan::hier(plan::Kind::direct, plan::Kind::halving, 2)};
    if (i % 5 != 0) c.settings.schedule = schedules[random() % schedules.size()];
    const auto contracts = contracts_for(c.settings.schedule.value_or(Schedule::gather));
    c.settings.contract = contracts[random() % contracts.size()];
    randomise(c, random, i % 8 == 0 ? 100000 : 5000);
    c.settings.chunk_bytes = i % 3 == 0 ? 0 : 500 + random() % 100000;
    c.settings.scratch_limit = 1u << 20;
    cases.push_back(c);
  }
  return cases;
}

void run_cases(const Process& process, const std::vector<Case>& cases) {
  const auto exchange = connect(process);
  engine::Scratch scratch(1u << 20);
  std::uint32_t sequence = 0;
  for (const Case& c : cases) {
    const Buffers buffers(c, process.rank());
    engine::Planner planner(c.settings, process.rank(), process.size());
    engine::Execution execution(*exchange, scratch, planner.arithmetic(buffers.call()),
                                planner.jobs(buffers.call()), sequence++);
    engine::Execution* const all[] = {&execution};
    const engine::Outcome outcome = engine::run(all, {});
    ASSERT_EQ(outcome.failure, "") << describe(c);
    std::vector<Bytes> inputs;
    for (std::uint32_t r = 0; r < c.ranks; ++r)
      inputs.push_back(input_of(c, r));
    EXPECT_TRUE(buffers.output() == expected_of(c, process.rank(), inputs)) << describe(c);
    EXPECT_EQ(buffers.damage(), "") << describe(c);
  }
}

class EngineUcx : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EngineUcx, EqualsTheReference) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const auto cases = random_cases(seed, GetParam(), 30);
  run_processes(GetParam(), [&cases](const Process& process) { run_cases(process, cases); });
}

INSTANTIATE_TEST_SUITE_P(Processes, EngineUcx, testing::Values(2, 3, 5));

/// A rank is killed in the middle: the others' watches end their calls, and all is taken down.
TEST(EngineUcxFailure, AKilledRankEndsTheOthersWithinTheTimeout) {
  run_processes(
      3,
      [](const Process& process) {
        auto exchange = connect(process);
        engine::Settings settings;
        engine::Planner planner(settings, process.rank(), process.size());
        engine::Scratch scratch(settings.scratch_limit);
        std::vector<float> data(1u << 18, 1.0f);
        engine::Reduction call;
        call.send = call.receive = data.data();
        call.count = data.size();
        std::string failure;
        for (std::uint32_t sequence = 0; failure.empty(); ++sequence) {
          engine::Execution execution(*exchange, scratch, planner.arithmetic(call), planner.jobs(call),
                                      sequence);
          for (int i = 0; process.rank() == 1 && sequence == 2 && i < 50; ++i)
            execution.progress();
          if (process.rank() == 1 && sequence == 2) process.die();
          const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(90);
          engine::Execution* const all[] = {&execution};
          failure =
              engine::run(all, [limit] {
                return std::chrono::steady_clock::now() > limit ? std::string("time is up") : std::string();
              }).failure;
          ASSERT_LE(sequence, 3u);  // the victim may have done its part of the call in which it died
        }
        const auto leaving = std::chrono::steady_clock::now();
        exchange.reset();
        EXPECT_LT(std::chrono::steady_clock::now() - leaving, std::chrono::seconds(20));
      },
      {.killed = {1}});
}

}  // namespace
}  // namespace detccl::test
