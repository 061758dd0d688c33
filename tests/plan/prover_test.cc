// SPDX-License-Identifier: Apache-2.0
// The prover on small programs written by hand: one fault each, and what it says about it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/prover.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

constexpr std::uint64_t kCount = 6;

Region in(std::uint64_t offset = 0, std::uint64_t count = kCount) {
  return {offset, count, 0, Buffer::input, Form::raw};
}
Region out(std::uint64_t offset = 0, std::uint64_t count = kCount) {
  return {offset, count, 0, Buffer::output, Form::final};
}
Region slot(std::uint32_t number, Form form, std::uint64_t count = kCount) {
  return {0, count, number, Buffer::scratch, form};
}

/// Two ranks exchange their inputs and fold them: a valid all_reduce.
class Prover : public ::testing::Test {
 protected:
  Prover() {
    spec.schedule = Schedule::gather;
    spec.ranks = 2;
    spec.count = kCount;
    programs = build_all(spec);
  }
  void expect(const std::string& failure, bool in_place = false) {
    const Proof proof = prove(spec, programs, in_place);
    EXPECT_FALSE(proof.proved);
    EXPECT_EQ(proof.failure, failure);
  }
  Stage& stage(std::size_t rank, std::size_t index = 0) { return programs[rank].stages.at(index); }

  Spec spec;
  std::vector<Program> programs;
};

TEST_F(Prover, AcceptsIt) {
  for (const bool in_place : {false, true})
    EXPECT_EQ(prove(spec, programs, in_place).failure, "");
}

TEST_F(Prover, WantsAValidSpec) {
  spec.schedule = Schedule::ring;
  expect("schedule ring needs a linear contract");
  EXPECT_FALSE(prove(spec, false).proved);
}

TEST_F(Prover, WantsAProgramPerRank) {
  programs.pop_back();
  expect("not one program per rank");
}

TEST_F(Prover, OrderOfOperands) {
  std::swap(stage(1).folds[0].operands[0], stage(1).folds[0].operands[1]);
  expect("rank 1, stage 0: fold to 6 elements of output from 0 (final): not what the contract wants");
}

TEST_F(Prover, SendWithoutReceive) {
  stage(0).receives.clear();
  expect("rank 1, stage 0: send to 0: no receive there");
}

TEST_F(Prover, ReceiveWithoutSend) {
  stage(0).sends.clear();
  expect("rank 1, stage 0: receive from 0: no send there");
}

TEST_F(Prover, CountsOfAPair) {
  stage(0).sends[0].region.count = 5;
  expect(
      "rank 0, stage 0 sends 5 elements of input from 0 (raw), rank 1, stage 0 receives 6 elements of slot 0 "
      "(raw): count or form differ");
}

TEST_F(Prover, Peers) {
  stage(0).sends[0].peer = 2;
  expect("rank 0, stage 0: send to 2: no such peer");
  stage(0).sends[0].peer = 0;
  expect("rank 0, stage 0: send to 0: no such peer");
}

TEST_F(Prover, BoundsOfBuffers) {
  stage(0).sends[0].region = in(1);
  expect("rank 0, stage 0: send to 1: 6 elements of input from 1 (raw): outside the input");
  stage(0).sends[0].region = in(~std::uint64_t{0}, 2);
  expect(
      "rank 0, stage 0: send to 1: 2 elements of input from 18446744073709551615 (raw): outside the input");
  stage(0).sends[0].region = in();
  stage(0).receives[0].region = slot(0, Form::raw, 7);
  expect("rank 0, stage 0: receive from 1: 7 elements of slot 0 (raw): larger than the slot");
  stage(0).receives[0].region = slot(1, Form::raw);
  expect("rank 0, stage 0: receive from 1: 6 elements of slot 1 (raw): no such slot");
  stage(0).receives[0].region = in();
  expect("rank 0, stage 0: receive from 1: 6 elements of input from 0 (raw): the input is written");
  stage(0).receives[0].region = slot(0, Form::raw, 0);
  expect("rank 0, stage 0: receive from 1: 0 elements of slot 0 (raw): an empty region");
}

TEST_F(Prover, FormsOfBuffers) {
  stage(0).receives[0].region.form = Form::partial;
  expect("rank 0, stage 0: receive from 1: 6 elements of slot 0 (partial): the slot has another form");
  stage(0).receives[0].region.form = Form::raw;
  stage(0).folds[0].result.form = Form::raw;
  expect("rank 0, stage 0: fold to 6 elements of output from 0 (raw): no fold gives a raw value");
  stage(0).folds[0].result.form = Form::final;
  stage(0).folds.push_back({{out()}, out()});
  expect("rank 0, stage 0: fold of 6 elements of output from 0 (final): a result cannot be folded");
}

TEST_F(Prover, OnlyTheRootHasAnOutput) {
  spec.collective = Collective::reduce;
  expect("rank 1, stage 0: fold to 6 elements of output from 0 (final): only the root has an output");
}

TEST_F(Prover, ReadBeforeWritten) {
  programs[0].slots.push_back({kCount, Form::raw});
  stage(0).folds[0].operands[1].slot = 1;
  expect("rank 0, stage 0: 6 elements of slot 1 (raw): read before it is written");
}

TEST_F(Prover, ReadBeyondWhatWasWritten) {
  for (int rank = 0; rank < 2; ++rank) {
    const auto peer = static_cast<std::uint32_t>(1 - rank);
    programs[static_cast<std::size_t>(rank)].stages[0].sends[0] = {in(0, 5), peer};
    programs[static_cast<std::size_t>(rank)].stages[0].receives[0] = {slot(0, Form::raw, 5), peer};
  }
  expect("rank 1, stage 0: 6 elements of slot 0 (raw): read beyond what was written");
}

/// Rank 0 receives in two parts, into one slot.
TEST_F(Prover, PartsOfASlot) {
  programs[0].slots[0].elements = 8;
  stage(1).sends = {{in(4, 2), 0}, {in(0, 4), 0}};
  const auto part = [](std::uint64_t offset, std::uint64_t count) {
    Region region = slot(0, Form::raw, count);
    region.offset = offset;
    return region;
  };
  stage(0).receives = {{part(4, 2), 1}, {part(0, 4), 1}};
  EXPECT_EQ(prove(spec, programs, true).failure, "");
  stage(0).receives = {{part(3, 2), 1}, {part(0, 4), 1}};
  expect("rank 0, stage 0: 4 elements of slot 0 (raw): two receives at the same time");
  stage(0).receives = {{part(5, 2), 1}, {part(0, 4), 1}};
  expect("rank 0, stage 0: 6 elements of slot 0 (raw): read beyond what was written");
  stage(0).receives = {{part(0, 2), 1}, {part(2, 4), 1}};
  expect("rank 0, stage 0: 6 elements of slot 0 (raw): read across two values");
  stage(0).receives = {{part(2, 2), 1}, {part(4, 4), 1}};
  expect("rank 0, stage 0: 6 elements of slot 0 (raw): read before it is written");
  stage(0).receives = {{part(7, 2), 1}, {part(0, 4), 1}};
  expect("rank 0, stage 0: receive from 1: 2 elements of slot 0 from 7 (raw): larger than the slot");
}

/// A result beside the operand that it is made of, in one slot, and over it.
TEST_F(Prover, ResultOverlapsAnOperand) {
  programs[0].slots = {{kCount, Form::raw}, {2 * kCount, Form::partial}};
  Region low = slot(1, Form::partial), high = low;
  stage(0).folds = {{{in(), slot(0, Form::raw)}, low}, {{low}, high}, {{high}, out()}};
  stage(0).folds[1].result.offset = stage(0).folds[2].operands[0].offset = kCount;
  EXPECT_EQ(prove(spec, programs, true).failure, "");
  stage(0).folds[1].result.offset = stage(0).folds[2].operands[0].offset = 2;
  expect("rank 0, stage 0: fold to 6 elements of slot 1 from 2 (partial): overlaps an operand");
}

TEST_F(Prover, OtherElements) {
  stage(0).sends[0].region = in(1, 5);
  stage(1).receives[0].region = slot(0, Form::raw, 5);
  stage(1).folds[0] = {{slot(0, Form::raw, 5), in(0, 5)}, out(0, 5)};
  expect("rank 1, stage 0: a fold of values of different elements");
  stage(1).folds[0] = {{slot(0, Form::raw, 5), in(1, 5)}, out(0, 5)};
  expect("rank 1, stage 0: 5 elements of output from 0 (final): gets the result of other elements");
}

TEST_F(Prover, IncompleteOutput) {
  stage(1).folds[0] = {{slot(0, Form::raw, 4), in(0, 4)}, out(0, 4)};
  expect("rank 1: output elements 4 to 5 are never written");
}

TEST_F(Prover, OutputWrittenTwice) {
  stage(1).folds.push_back(stage(1).folds[0]);
  expect("rank 1, stage 0: 6 elements of output from 0 (final): written twice");
}

TEST_F(Prover, OverwrittenInputInPlace) {
  programs[0].slots.push_back({kCount, Form::partial});
  stage(0).folds.push_back({{in(), slot(0, Form::raw)}, slot(1, Form::partial)});
  EXPECT_TRUE(prove(spec, programs, false).proved);
  expect(
      "rank 0, stage 0: 6 elements of input from 0 (raw): read when it is overwritten: the output is in "
      "place",
      true);
}

TEST_F(Prover, TwoReceivesIntoOnePlace) {
  spec.ranks = 3;
  programs = build_all(spec);
  stage(2).receives[1].region = stage(2).receives[0].region;
  expect("rank 2, stage 0: 6 elements of slot 1 (raw): two receives at the same time");
}

/// Rank 1 folds, rank 0 passes the result on while it receives the next thing into the same slot.
TEST_F(Prover, SendWhileReceivedInto) {
  spec.collective = Collective::reduce;
  spec.root = 1;
  programs = build_all(spec);
  programs[0].slots = {{kCount, Form::raw}};
  stage(0) = {{{in(), 1}}, {{slot(0, Form::raw), 1}}, {}};
  stage(1).sends.push_back({in(), 0});
  programs[0].stages.push_back({{{slot(0, Form::raw), 1}}, {{slot(0, Form::raw), 1}}, {}});
  programs[1].slots.push_back({kCount, Form::raw});
  programs[1].stages.push_back({{{slot(0, Form::raw), 0}}, {{slot(1, Form::raw), 0}}, {}});
  expect("rank 0, stage 1: 6 elements of slot 0 (raw): read while it is being received");
}

TEST_F(Prover, ResultBeforeTheLastRoundingOfBlocks) {
  spec.contract.block = 2;
  expect("rank 1, stage 0: fold to 6 elements of output from 0 (final): not what the contract wants");
  programs = build_all(spec);
  EXPECT_TRUE(prove(spec, programs, true).proved);
}

TEST_F(Prover, Deadlock) {
  for (Program& program : programs) {
    Stage first;
    first.sends = std::exchange(program.stages[0].sends, {});
    program.stages.insert(program.stages.begin(), first);
  }
  expect("deadlock: rank 0, stage 0 waits for rank 1, stage 0 waits for rank 0");
}

TEST_F(Prover, NothingToDo) {
  spec.count = 0;
  programs = build_all(spec);
  EXPECT_TRUE(programs[0].stages.empty());
  EXPECT_TRUE(prove(spec, programs, true).proved);
}

}  // namespace
}  // namespace detccl::plan::testing
