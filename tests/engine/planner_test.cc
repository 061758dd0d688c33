// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cases.h"
#include "engine/execution.h"

namespace detccl::test {
namespace {

using engine::Planner;
using engine::Reduction;
using engine::Settings;
using plan::Collective;
using plan::Schedule;

constexpr Schedule kSchedules[] = {Schedule::gather,
                                   Schedule::direct,
                                   Schedule::ring,
                                   Schedule::tree,
                                   Schedule::halving,
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 8),
                                   plan::hier(plan::Kind::direct, plan::Kind::halving, 8, 8),
                                   plan::halving_by(4),
                                   plan::halving_by(8),
                                   plan::halving_by(32),
                                   plan::hier(plan::Kind::halving, plan::Kind::direct, 4),
                                   plan::hier(plan::Kind::direct, plan::Kind::direct, 8)};
constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::reduce};

TEST(Planner, ChoosesGatherForSmallMessagesAndDirectForTheRest) {
  Settings settings;
  for (const std::uint32_t ranks : {2u, 8u, 100u}) {
    EXPECT_EQ(choose_schedule(settings, ranks, 0), Schedule::gather);
    EXPECT_EQ(choose_schedule(settings, ranks, 64), Schedule::gather);
    EXPECT_EQ(choose_schedule(settings, ranks, 8u << 20), Schedule::direct);
  }
  settings.schedule = Schedule::tree;
  EXPECT_EQ(choose_schedule(settings, 2, 64), Schedule::tree);
}

/// Two jobs fit into the scratch limit, whatever the number of ranks, the schedule and the type.
TEST(Planner, ScratchIsBounded) {
  for (const std::uint32_t ranks : {2u, 3u, 7u, 10u, 16u, 18u, 20u, 24u, 50u, 72u, 100u, 1000u, 2432u, 4096u})
    for (const Schedule schedule : kSchedules)
      for (const Collective collective : kCollectives)
        for (const contract::Contract& contract : contracts_for(schedule))
          for (const std::size_t chunk : {std::size_t{0}, std::size_t{1} << 30})
            for (const auto type : {contract::DataType::float32, contract::DataType::float8e5m2}) {
              Settings settings;
              settings.contract = contract;
              settings.schedule = schedule;
              settings.chunk_bytes = chunk;
              plan::Spec spec;
              spec.collective = collective;
              spec.schedule = schedule;
              spec.contract = contract;
              spec.ranks = ranks;
              spec.root = ranks / 2;
              spec.count = chunk_elements(settings, collective, schedule, ranks, type);
              spec.stride = spec.count;
              spec = plan::pieces(spec)[0].spec;
              for (const std::uint32_t rank : {0u, 1u, ranks / 2, ranks * 2 / 3, ranks - 1}) {
                device::host::Arithmetic arithmetic;
                arithmetic.type = type;
                arithmetic.accumulate = contract.accumulate;
                EXPECT_LE(engine::scratch_bytes(plan::build(spec, rank), arithmetic),
                          settings.scratch_limit / engine::kMinWindow)
                    << plan::name(schedule) << " " << plan::name(collective) << " "
                    << contract::to_string(contract) << " ranks " << ranks << " rank " << rank << " chunk "
                    << chunk;
              }
              EXPECT_GE(spec.count, 32u);
            }
}

TEST(Planner, JobsCoverTheMessageInTheSameOrderOnAllRanks) {
  std::vector<float> data(3 * 1000), out(1000);
  for (const Schedule schedule : kSchedules) {
    for (const Collective collective : kCollectives) {
      Settings settings;
      settings.contract = contracts_for(schedule)[0];
      settings.schedule = schedule;
      settings.chunk_bytes = 400;
      Reduction call;
      call.collective = collective;
      call.send = data.data();
      call.receive = out.data();
      call.count = 1000;
      std::vector<std::size_t> numbers;
      for (std::uint32_t rank = 0; rank < 3; ++rank) {
        Planner planner(settings, rank, 3);
        const auto jobs = planner.jobs(call);
        numbers.push_back(jobs.size());
        std::uint64_t written = 0;
        for (const engine::Job& job : jobs)
          for (const plan::Stage& stage : job.program->stages)
            for (const plan::Transfer& t : stage.receives)
              if (t.region.buffer == plan::Buffer::output) written += t.region.count;
        EXPECT_LE(written, 1000u);
        const bool output = collective != Collective::reduce || rank == 0;
        for (const engine::Job& job : jobs)
          EXPECT_TRUE(job.output == nullptr ||
                      (output && job.output >= reinterpret_cast<std::byte*>(out.data())));
      }
      EXPECT_EQ(numbers[0], numbers[1]);
      EXPECT_EQ(numbers[0], numbers[2]);
      EXPECT_GE(numbers[0], 10u);
    }
  }
}

TEST(Planner, NothingToDoForNoElements) {
  EXPECT_TRUE(Planner({}, 0, 4).jobs({}).empty());
}

TEST(Planner, ProgramsAreBuiltOncePerShape) {
  int built = 0;
  Settings settings;
  settings.chunk_bytes = 4096;
  settings.schedule = Schedule::direct;
  Planner planner(settings, 1, 4, [&built](const plan::Spec& spec, std::uint32_t rank) {
    ++built;
    return plan::build(spec, rank);
  });
  std::vector<float> data(100000);
  Reduction call;
  call.send = call.receive = data.data();
  call.count = 100000;
  EXPECT_EQ(planner.jobs(call).size(), 98u);
  EXPECT_EQ(built, 2);  // a full chunk and the tail
  planner.jobs(call);
  EXPECT_EQ(built, 2);
  // Of very many shapes it forgets the ones that are not used, and keeps those that are.
  for (call.count = 1; call.count < 1000; ++call.count)
    planner.jobs(call);
  const int before = built;
  call.count = 999;
  planner.jobs(call);
  EXPECT_EQ(built, before);
  call.count = 1;
  planner.jobs(call);
  EXPECT_EQ(built, before + 1);
}

TEST(Planner, RefusesWhatTheScheduleCannotCarryOut) {
  Settings settings;
  settings.schedule = Schedule::ring;
  float x = 0;
  Reduction call;
  call.send = call.receive = &x;
  call.count = 1;
  EXPECT_THROW(Planner(settings, 0, 2).jobs(call), std::invalid_argument);
}

TEST(Planner, TooManyChunksAreRefused) {
  std::vector<std::int8_t> data(engine::kMaxJobs);
  Settings settings;
  settings.schedule = Schedule::direct;
  settings.chunk_bytes = 1;
  Reduction call;
  call.type = contract::DataType::int8;
  call.send = call.receive = data.data();
  call.count = data.size();
  EXPECT_THROW(Planner(settings, 0, 2).jobs(call), std::invalid_argument);
}

/// A source of programs that gets rank 1's fold wrong.
plan::Program swapped(const plan::Spec& spec, std::uint32_t rank) {
  plan::Program program = plan::build(spec, rank);
  if (rank == 1)
    for (plan::Stage& stage : program.stages)
      for (plan::Fold& fold : stage.folds)
        if (fold.operands.size() > 1) std::swap(fold.operands.front(), fold.operands.back());
  return program;
}

TEST(Prove, ABrokenPlanIsRefusedOnEveryRankAndNothingRuns) {
  Settings settings;
  settings.prove = true;
  for (const Schedule schedule : kSchedules)
    for (const Collective collective : kCollectives)
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        settings.schedule = schedule;
        settings.contract = contracts_for(schedule)[0];
        std::vector<float> data(4000, 1.0f), out(1000, 7.0f);
        Reduction call;
        call.collective = collective;
        call.send = data.data();
        call.receive = out.data();
        call.count = 1000;
        call.root = 1;
        EXPECT_EQ(Planner(settings, rank, 4).jobs(call).empty(), false);
        Planner broken(settings, rank, 4, swapped);
        try {
          broken.jobs(call);
          ADD_FAILURE() << plan::name(schedule) << " " << plan::name(collective);
        } catch (const std::runtime_error& e) {
          EXPECT_NE(std::string(e.what()).find("fails its proof: "), std::string::npos) << e.what();
        }
        EXPECT_EQ(out, std::vector<float>(1000, 7.0f));
      }
}

}  // namespace
}  // namespace detccl::test
