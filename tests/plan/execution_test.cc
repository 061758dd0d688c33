// SPDX-License-Identifier: Apache-2.0
// What the prover accepts is right when it runs: random plans on numbers, in random interleavings; and plans
// that differ from build()'s without doing anything else are accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "interpreter.h"
#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

void renumber(std::vector<Region>& regions, const std::vector<std::uint32_t>& to) {
  for (Region& r : regions) {
    if (r.buffer == Buffer::scratch) r.slot = to[r.slot];
  }
}

void renumber(Region& region, const std::vector<std::uint32_t>& to) {
  if (region.buffer == Buffer::scratch) region.slot = to[region.slot];
}

/// Slots numbered otherwise.
void permute_slots(Program& program, Random& random) {
  std::vector<std::uint32_t> to(program.slots.size());
  std::iota(to.begin(), to.end(), 0u);
  std::shuffle(to.begin(), to.end(), random);
  const std::vector<Slot> slots = program.slots;
  for (std::size_t i = 0; i < slots.size(); ++i)
    program.slots[to[i]] = slots[i];
  for (Stage& stage : program.stages) {
    for (Transfer& t : stage.sends)
      renumber(t.region, to);
    for (Transfer& t : stage.receives)
      renumber(t.region, to);
    for (Fold& f : stage.folds) {
      renumber(f.operands, to);
      renumber(f.result, to);
    }
  }
}

/// Transfers of a stage in another order, except among those with the same peer.
void permute_transfers(std::vector<Transfer>& list, std::uint32_t ranks, Random& random) {
  std::vector<std::uint32_t> place(ranks);
  std::iota(place.begin(), place.end(), 0u);
  std::shuffle(place.begin(), place.end(), random);
  std::stable_sort(list.begin(), list.end(),
                   [&](const Transfer& a, const Transfer& b) { return place[a.peer] < place[b.peer]; });
}

TEST(Execution, AcceptedPlansGiveTheContractsValues) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 400; ++i) {
    const Spec spec = random_spec(random, 20);
    const bool in_place = coin(random);
    SCOPED_TRACE(describe(spec));
    const auto programs = build_all(spec);
    const Proof proof = prove(spec, programs, in_place);
    ASSERT_TRUE(proof.proved) << proof.failure;
    ASSERT_EQ(interpret(spec, programs, in_place, random), "");
  }
}

TEST(Execution, PlansThatOnlyLookDifferentAreAccepted) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 400; ++i) {
    const Spec spec = random_spec(random, 20);
    const bool in_place = coin(random);
    SCOPED_TRACE(describe(spec));
    auto programs = build_all(spec);
    for (Program& program : programs) {
      permute_slots(program, random);
      for (Stage& stage : program.stages) {
        permute_transfers(stage.sends, spec.ranks, random);
        permute_transfers(stage.receives, spec.ranks, random);
      }
      // A stage that does nothing, somewhere.
      const auto at = static_cast<std::ptrdiff_t>(pick(random, 0, program.stages.size()));
      program.stages.insert(program.stages.begin() + at, Stage{});
    }
    const Proof proof = prove(spec, programs, in_place);
    ASSERT_TRUE(proof.proved) << proof.failure;
    ASSERT_EQ(interpret(spec, programs, in_place, random), "");
  }
}

/// A schedule that build() does not have: recursive doubling over four ranks, partials exchanged.
TEST(Execution, AnUnknownScheduleIsProved) {
  Spec spec;
  spec.ranks = 4;
  spec.count = 5;
  std::vector<Program> programs(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Program& p = programs[rank];
    p.slots = {{5, Form::raw}, {5, Form::partial}, {5, Form::partial}};
    const Region own{0, 5, 0, Buffer::input, Form::raw}, result{0, 5, 0, Buffer::output, Form::final};
    const Region raw{0, 5, 0, Buffer::scratch, Form::raw}, mine{0, 5, 1, Buffer::scratch, Form::partial};
    const Region theirs{0, 5, 2, Buffer::scratch, Form::partial};
    const bool odd = rank % 2 == 1, upper = rank >= 2;
    const Fold pair{{odd ? raw : own, odd ? own : raw}, mine};
    const Fold all{{upper ? theirs : mine, upper ? mine : theirs}, result};
    p.stages.push_back({{{own, rank ^ 1}}, {{raw, rank ^ 1}}, {pair}});
    p.stages.push_back({{{mine, rank ^ 2}}, {{theirs, rank ^ 2}}, {all}});
  }
  for (const bool in_place : {false, true}) {
    const Proof proof = prove(spec, programs, in_place);
    EXPECT_TRUE(proof.proved) << proof.failure;
  }
  Random random(1);
  EXPECT_EQ(interpret(spec, programs, true, random), "");
}

}  // namespace
}  // namespace detccl::plan::testing
