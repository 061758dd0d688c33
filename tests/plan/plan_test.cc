// SPDX-License-Identifier: Apache-2.0
// Specs, pieces, and the shape of programs. What they compute is for the prover's tests.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include <bit>
#include <stdexcept>

#include "plan/summary.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

Spec make(Collective collective, Schedule schedule, std::uint32_t ranks, std::uint64_t count) {
  Spec spec;
  spec.collective = collective;
  spec.schedule = schedule;
  if (schedule.kind == Kind::ring) spec.contract.order = contract::Order::linear;
  spec.ranks = ranks;
  spec.count = count;
  if (collective == Collective::reduce_scatter) spec.stride = count;
  return spec;
}

TEST(Plan, NamesAreParsedBack) {
  for (const Collective c : kCollectives)
    EXPECT_EQ(parse_collective(name(c)), c);
  for (const Schedule s : kSchedules)
    EXPECT_EQ(parse_schedule(name(s)), s);
  EXPECT_EQ(name(Collective::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(name(Schedule::tree), "tree");
  EXPECT_EQ(name(hier(Kind::direct, Kind::halving, 8)), "hier(direct,halving)/8");
  EXPECT_EQ(parse_schedule("hier(halving,direct)"), hier(Kind::halving, Kind::direct, 0));
  for (const Schedule& s :
       {halving_by(4), hier(Kind::direct, Kind::halving, 8, 16), hier(Kind::halving, Kind::direct, 4, 8),
        hier(Kind::halving, Kind::halving, 4, 8)})
    EXPECT_EQ(parse_schedule(name(s)), s) << name(s);
  EXPECT_EQ(name(hier(Kind::direct, Kind::halving, 8, 16)), "hier(direct,halving:16)/8");
  for (const char* text : {"halving:", "halving:1", "halving:6", "halving:8 ", "direct:2",
                           "hier(halving:4,halving:8)/8", "hier(halving,halving:8)", "hier",
                           "hier(ring,direct)/8", "hier(direct,halving)/", "hier(direct,halving)/6",
                           "hier(direct,halving)8", "hier(direct,halving)/8 ", "hier(direct,halving)/0"}) {
    EXPECT_EQ(parse_schedule(text), std::nullopt) << text;
  }
  for (const char* text : {"", "Tree", "tree ", "halve"}) {
    EXPECT_EQ(parse_collective(text), std::nullopt);
    EXPECT_EQ(parse_schedule(text), std::nullopt);
  }
}

TEST(Plan, SchedulesOfAnOrder) {
  for (const auto& c : contracts()) {
    const bool tree = c.order == contract::Order::tree;
    EXPECT_TRUE(supports(Schedule::gather, c));
    EXPECT_TRUE(supports(Schedule::direct, c));
    EXPECT_EQ(supports(Schedule::tree, c), tree);
    EXPECT_EQ(supports(Schedule::ring, c), !tree);
    EXPECT_EQ(supports(Schedule::halving, c), tree);
    EXPECT_EQ(supports(hier(Kind::direct, Kind::direct, 8), c), tree);
  }
}

TEST(Plan, InvalidSpecs) {
  const Spec good = make(Collective::reduce_scatter, Schedule::gather, 3, 10);
  EXPECT_EQ(check(good), std::nullopt);
  const auto expect_bad = [&](auto change) {
    Spec spec = good;
    change(spec);
    EXPECT_TRUE(check(spec).has_value()) << describe(spec);
    EXPECT_THROW(build(spec, 0), std::invalid_argument) << describe(spec);
  };
  expect_bad([](Spec& s) { s.ranks = 0; });
  expect_bad([](Spec& s) { s.ranks = 0x80000001u; });
  expect_bad([](Spec& s) { s.stride = 9; });
  expect_bad([](Spec& s) { s.stride = std::uint64_t{1} << 60; });
  expect_bad([](Spec& s) { s.count = s.stride = ~std::uint64_t{0}; });
  expect_bad([](Spec& s) { s.contract.block = 3; });
  expect_bad([](Spec& s) { s.contract.block = 1; });
  expect_bad([](Spec& s) { s.contract = {contract::Order::tree, contract::Accumulate::native, 4}; });
  expect_bad([](Spec& s) { s.schedule = Schedule::ring; });
  expect_bad([](Spec& s) { s.schedule = hier(Kind::direct, Kind::direct, 0); });
  expect_bad([](Spec& s) { s.schedule = hier(Kind::direct, Kind::direct, 6); });
  expect_bad([](Spec& s) { s.schedule = hier(Kind::direct, Kind::tree, 8); });
  expect_bad([](Spec& s) {
    s.schedule = Schedule::tree;
    s.contract.order = contract::Order::linear;
  });
  expect_bad([](Spec& s) {
    s.collective = Collective::reduce;
    s.root = 3;
  });
  EXPECT_THROW(build(good, 3), std::invalid_argument);
}

TEST(Plan, ReduceScatterByRingOrTreeIsAReducePerShard) {
  for (const Schedule schedule : {Schedule::ring, Schedule::tree}) {
    Spec spec = make(Collective::reduce_scatter, schedule, 5, 10);
    spec.stride = 12;
    EXPECT_THROW(build(spec, 0), std::invalid_argument);
    const auto list = pieces(spec);
    ASSERT_EQ(list.size(), 5u);
    for (std::uint32_t r = 0; r < 5; ++r) {
      EXPECT_EQ(list[r].spec.collective, Collective::reduce);
      EXPECT_EQ(list[r].spec.root, r);
      EXPECT_EQ(list[r].spec.count, 10u);
      EXPECT_EQ(list[r].input_offset, 12u * r);
      EXPECT_EQ(list[r].output_offset, 0u);
      EXPECT_EQ(check(list[r].spec), std::nullopt);
    }
  }
  EXPECT_EQ(pieces(make(Collective::reduce_scatter, Schedule::direct, 5, 10)).size(), 1u);
  EXPECT_EQ(pieces(make(Collective::reduce, Schedule::tree, 5, 10)).size(), 1u);
}

TEST(Plan, NothingToReduceIsNoStage) {
  for (const Schedule schedule : kSchedules) {
    for (const std::uint32_t n : {1u, 4u}) {
      const Program program = build(make(Collective::all_reduce, schedule, n, 0), n - 1);
      EXPECT_TRUE(program.stages.empty());
      EXPECT_TRUE(program.slots.empty());
    }
  }
}

TEST(Plan, OneRankIsOneFoldOfOneOperand) {
  for (const Schedule schedule : kSchedules) {
    Spec spec = make(Collective::all_reduce, schedule, 1, 7);
    spec.contract.block = 4;
    const Program program = build(spec, 0);
    ASSERT_EQ(program.stages.size(), 1u);
    EXPECT_TRUE(program.slots.empty());
    ASSERT_EQ(program.stages[0].folds.size(), 1u);
    const Fold& fold = program.stages[0].folds[0];
    ASSERT_EQ(fold.operands.size(), 1u);
    EXPECT_EQ(fold.operands[0], (Region{0, 7, 0, Buffer::input, Form::raw}));
    EXPECT_EQ(fold.result, (Region{0, 7, 0, Buffer::output, Form::final}));
  }
}

TEST(Plan, LongShardsOfDirectBeginAtMultiplesOf16) {
  for (std::uint32_t rank = 0; rank < 7; ++rank) {
    const Program program = build(make(Collective::all_reduce, Schedule::direct, 7, 10001), rank);
    const Region own = program.stages.at(0).folds.at(0).result;
    EXPECT_EQ(own.offset % 16, 0u);
    EXPECT_NEAR(static_cast<double>(own.count), 10001.0 / 7, 32.0);
  }
}

TEST(Plan, ShortMessagesOfDirectAreCutNearlyEqually) {
  for (std::uint32_t rank = 0; rank < 7; ++rank) {
    const Program program = build(make(Collective::all_reduce, Schedule::direct, 7, 10), rank);
    EXPECT_EQ(program.stages.at(0).folds.at(0).result.count, rank < 3 ? 2u : 1u);
  }
  // Fewer elements than ranks: the rest own nothing and fold nothing.
  for (std::uint32_t rank = 0; rank < 7; ++rank) {
    const Program program = build(make(Collective::all_reduce, Schedule::direct, 7, 3), rank);
    EXPECT_EQ(program.stages.at(0).folds.size(), rank < 3 ? 1u : 0u);
    EXPECT_EQ(program.slots.size(), rank < 3 ? 6u : 0u);
  }
}

TEST(Plan, RingTalksToNeighboursOnly) {
  for (const Collective collective : {Collective::all_reduce, Collective::reduce}) {
    for (std::uint32_t rank = 0; rank < 9; ++rank) {
      const Program program = build(make(collective, Schedule::ring, 9, 5), rank);
      for (const Stage& stage : program.stages) {
        for (const Transfer& t : stage.sends)
          EXPECT_TRUE(t.peer + 1 == rank || t.peer == rank + 1);
        for (const Transfer& t : stage.receives)
          EXPECT_TRUE(t.peer + 1 == rank || t.peer == rank + 1);
      }
    }
  }
}

TEST(Plan, RingSendsResultsBackAsFarAsTheRoot) {
  Spec spec = make(Collective::reduce, Schedule::ring, 9, 5);
  spec.root = 4;
  for (std::uint32_t rank = 0; rank < 9; ++rank) {
    const Program program = build(spec, rank);
    bool receives_result = false, sends_result = false;
    for (const Stage& stage : program.stages) {
      for (const Transfer& t : stage.receives)
        receives_result |= t.region.form == Form::final;
      for (const Transfer& t : stage.sends)
        sends_result |= t.region.form == Form::final;
    }
    EXPECT_EQ(receives_result, rank >= 4 && rank < 8);
    EXPECT_EQ(sends_result, rank > 4);
  }
}

// The limits that the schedules' headers state, for every rank of some communicators.

TEST(PlanCost, Gather) {
  const Cost all = cost(make(Collective::all_reduce, Schedule::gather, 10, 100), 3, contract::DataType::int8);
  EXPECT_EQ(all.stages, 1u);
  EXPECT_EQ(all.bytes_sent, 900u);
  EXPECT_EQ(all.bytes_received, 900u);
  EXPECT_EQ(all.peers, 9u);
  EXPECT_EQ(all.scratch_bytes, 900u);
  const Spec reduce = make(Collective::reduce, Schedule::gather, 10, 100);
  EXPECT_EQ(cost(reduce, 3, contract::DataType::int8).bytes_sent, 100u);
  EXPECT_EQ(cost(reduce, 3, contract::DataType::int8).scratch_bytes, 0u);
  EXPECT_EQ(cost(reduce, 0, contract::DataType::int8).bytes_received, 900u);
}

TEST(PlanCost, DirectMovesTwiceTheMessage) {
  const std::uint32_t n = 10;
  const std::uint64_t count = 16 * 10 * 50, shard = count / n;
  const Cost all =
      cost(make(Collective::all_reduce, Schedule::direct, n, count), 3, contract::DataType::bfloat16);
  EXPECT_EQ(all.stages, 2u);
  EXPECT_EQ(all.bytes_sent, 2 * 2 * shard * (n - 1));
  EXPECT_EQ(all.bytes_received, 2 * 2 * shard * (n - 1));
  EXPECT_EQ(all.peers, n - 1);
  EXPECT_EQ(all.scratch_bytes, 2 * shard * (n - 1));
  const Spec reduce = make(Collective::reduce, Schedule::direct, n, count);
  EXPECT_EQ(cost(reduce, 3, contract::DataType::bfloat16).bytes_sent, 2 * count);
  EXPECT_EQ(cost(reduce, 0, contract::DataType::bfloat16).bytes_sent, 2 * shard * (n - 1));
  EXPECT_EQ(cost(reduce, 3, contract::DataType::bfloat16).scratch_bytes, 2 * count);
}

TEST(PlanCost, RingIsConstantInTheNumberOfRanks) {
  for (const std::uint32_t n : {2u, 3u, 100u, 1000u}) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      const Spec spec = make(Collective::all_reduce, Schedule::ring, n, 100);
      const Cost all = cost(spec, rank, contract::DataType::bfloat16);
      EXPECT_LE(all.stages, 3u);
      EXPECT_LE(all.bytes_sent, 600u);
      EXPECT_LE(all.bytes_received, 600u);
      EXPECT_LE(all.peers, 2u);
      EXPECT_LE(all.scratch_bytes, rank == 1 ? 600u : 400u);
      Spec blocks = spec;
      blocks.contract.block = 4;
      EXPECT_LE(cost(blocks, rank, contract::DataType::bfloat16).scratch_bytes, 2 * 400u + 3 * 200u);
      blocks.collective = Collective::reduce;
      EXPECT_LE(cost(blocks, rank, contract::DataType::bfloat16).scratch_bytes, 2 * 400u + 3 * 200u);
    }
  }
}

TEST(PlanCost, TreeIsConstantInTheNumberOfRanks) {
  for (const std::uint32_t n : {2u, 3u, 100u, 1000u}) {
    for (const Collective collective : {Collective::all_reduce, Collective::reduce}) {
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        Spec spec = make(collective, Schedule::tree, n, 100);
        spec.root = n / 2;
        const bool reduce = collective == Collective::reduce;
        const Cost plain = cost(spec, rank, contract::DataType::bfloat16);
        EXPECT_LE(plain.stages, 3u);
        EXPECT_LE(plain.bytes_sent, reduce ? 600u : 1000u);
        EXPECT_LE(plain.bytes_received, 1000u);
        EXPECT_LE(plain.peers, reduce ? 5u : 4u);
        EXPECT_LE(plain.scratch_bytes, 1000u);
        spec.contract.block = 4;
        EXPECT_LE(cost(spec, rank, contract::DataType::bfloat16).scratch_bytes, 1200u);
      }
    }
  }
}

}  // namespace
}  // namespace detccl::plan::testing
