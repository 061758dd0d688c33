// SPDX-License-Identifier: Apache-2.0
// What the contract promises, end to end: the same bits whatever carried them; and failures that stop.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <gtest/gtest.h>

#include "run_executions.h"
#include "virtual_ranks.h"

namespace detccl::test {
namespace {

using plan::Collective;
using plan::Schedule;

Case random_case(Random& random) {
  Case c;
  c.ranks = static_cast<std::uint32_t>(1 + random() % 12);
  randomise(c, random, 400);
  c.settings = {};
  const auto contracts = contracts_for(Schedule::gather);
  c.settings.contract = contracts[random() % contracts.size()];
  return c;
}

Bytes all_reduce(Case c) {
  c.collective = Collective::all_reduce;
  Results results = run_virtual(c);
  EXPECT_EQ(results.failure, "") << describe(c);
  for (const Bytes& output : results.outputs)
    EXPECT_TRUE(output == results.outputs[0]) << describe(c);
  return results.outputs[0];
}

class Promises : public testing::Test {
 protected:
  Promises() : seed_(std::random_device{}()), random_(seed_) { std::printf("seed %u\n", seed_); }
  unsigned seed_;
  Random random_;
};

TEST_F(Promises, AnyScheduleChunkAndScratchGivesTheSameBits) {
  for (int i = 0; i < 40; ++i) {
    Case c = random_case(random_);
    const Bytes first = all_reduce(c);
    for (const Schedule& schedule :
         {Schedule::gather, Schedule::direct, Schedule::ring, Schedule::tree, Schedule::halving,
          plan::hier(plan::Kind::direct, plan::Kind::halving, 4), plan::halving_by(4),
          plan::hier(plan::Kind::direct, plan::Kind::direct, 2)}) {
      if (!plan::supports(schedule, c.settings.contract)) continue;
      c.settings.schedule = schedule;
      for (const std::size_t chunk : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
        c.settings.chunk_bytes = chunk;
        c.settings.scratch_limit = random_() % 2 == 0 ? 16u << 20 : 1 + random_() % 3000;
        EXPECT_TRUE(all_reduce(c) == first) << describe(c);
      }
    }
  }
}

TEST_F(Promises, AllReduceIsReduceAtAnyRoot) {
  for (int i = 0; i < 30; ++i) {
    Case c = random_case(random_);
    const Bytes whole = all_reduce(c);
    c.collective = Collective::reduce;
    for (c.root = 0; c.root < c.ranks; ++c.root) {
      const Results reduced = run_virtual(c);
      EXPECT_EQ(reduced.failure, "") << describe(c);
      EXPECT_TRUE(reduced.outputs[c.root] == whole) << describe(c);
    }
  }
}

TEST_F(Promises, AllReduceIsTheShardsOfReduceScatter) {
  for (int i = 0; i < 60; ++i) {
    Case c = random_case(random_);
    Case shards = c;
    shards.collective = Collective::reduce_scatter;
    shards.count = c.count / c.ranks;
    c.count = shards.count * c.ranks;
    const Bytes whole = all_reduce(c);
    const Results scattered = run_virtual(shards);
    EXPECT_EQ(scattered.failure, "") << describe(shards);
    Bytes joined;
    for (const Bytes& shard : scattered.outputs)
      joined.insert(joined.end(), shard.begin(), shard.end());
    EXPECT_TRUE(joined == whole) << describe(shards);
  }
}

TEST_F(Promises, InPlaceIsOutOfPlaceAtAnyAlignment) {
  for (int i = 0; i < 60; ++i) {
    Case c = random_case(random_);
    c.collective = static_cast<Collective>(random_() % 3);
    std::vector<std::vector<Bytes>> outputs;
    for (const bool in_place : {false, true}) {
      for (const std::size_t misalignment : {std::size_t{0}, std::size_t{1}, std::size_t{20}}) {
        c.in_place = in_place;
        c.misalignment = misalignment;
        Results results = run_virtual(c, Delivery::shuffled);
        EXPECT_EQ(results.failure, "") << describe(c);
        outputs.push_back(std::move(results.outputs));
        EXPECT_TRUE(outputs.back() == outputs.front()) << describe(c);
      }
    }
  }
}

/// A bucket of several tensors reduced as one, against the tensors reduced one by one.
TEST_F(Promises, AFusedBucketIsItsPieces) {
  for (int i = 0; i < 30; ++i) {
    Case bucket = random_case(random_);
    const Bytes fused = all_reduce(bucket);
    std::vector<Bytes> inputs;
    for (std::uint32_t r = 0; r < bucket.ranks; ++r)
      inputs.push_back(input_of(bucket, r));
    for (std::uint64_t start = 0; start < bucket.count;) {
      const std::uint64_t count = std::min<std::uint64_t>(bucket.count - start, 1 + random_() % 100);
      transport::LoopFabric fabric(bucket.ranks);
      std::vector<std::unique_ptr<transport::Exchange>> exchanges;
      std::vector<std::unique_ptr<engine::Scratch>> scratches;
      std::vector<std::unique_ptr<engine::Execution>> executions;
      std::vector<engine::Execution*> all;
      std::vector<Bytes> outputs(bucket.ranks, Bytes(count * bucket.size()));
      for (std::uint32_t r = 0; r < bucket.ranks; ++r) {
        engine::Planner planner(bucket.settings, r, bucket.ranks);
        const engine::Reduction call = {Collective::all_reduce,
                                        bucket.type,
                                        bucket.op,
                                        bucket.scalar,
                                        inputs[r].data() + start * bucket.size(),
                                        outputs[r].data(),
                                        count,
                                        0};
        exchanges.push_back(fabric.exchange(r));
        scratches.push_back(std::make_unique<engine::Scratch>(1u << 20));
        executions.push_back(std::make_unique<engine::Execution>(
            *exchanges[r], *scratches[r], planner.arithmetic(call), planner.jobs(call), 1));
        all.push_back(executions.back().get());
      }
      EXPECT_EQ(engine::run(all, {}).failure, "");
      const std::size_t offset = start * bucket.size();
      for (const Bytes& output : outputs)
        EXPECT_TRUE(
            std::equal(output.begin(), output.end(), fused.begin() + static_cast<std::ptrdiff_t>(offset)))
            << describe(bucket) << " from " << start << " count " << count;
      start += count;
    }
  }
}

struct Pair {
  explicit Pair(std::size_t elements) : data(elements), out(elements), planner({}, 0, 2) {
    call.send = data.data();
    call.receive = out.data();
    call.count = elements;
  }
  std::unique_ptr<engine::Execution> start(transport::Exchange& exchange) {
    return std::make_unique<engine::Execution>(exchange, scratch, planner.arithmetic(call),
                                               planner.jobs(call), 0);
  }
  std::vector<float> data, out;
  engine::Reduction call;
  engine::Planner planner;
  engine::Scratch scratch{1u << 20};
};

TEST(Failure, APeerThatLeavesFailsTheExecution) {
  transport::LoopFabric fabric(2);
  const auto mine = fabric.exchange(0);
  auto theirs = fabric.exchange(1);
  Pair pair(100000);
  const auto execution = pair.start(*mine);
  EXPECT_EQ(execution->progress(), engine::Status::running);
  theirs.reset();
  engine::Execution* const all[] = {execution.get()};
  const engine::Outcome outcome = engine::run(all, {});
  EXPECT_EQ(outcome.status, engine::Status::failed);
  EXPECT_EQ(outcome.failure, "rank 1 has left");
  EXPECT_EQ(execution->progress(), engine::Status::failed);
}

TEST(Failure, TheWatchEndsTheWait) {
  transport::LoopFabric fabric(2);
  const auto mine = fabric.exchange(0), theirs = fabric.exchange(1);
  Pair pair(1000);
  auto execution = pair.start(*mine);
  engine::Execution* const all[] = {execution.get()};
  int asked = 0;
  const auto start = std::chrono::steady_clock::now();
  const engine::Outcome outcome =
      engine::run(all, [&asked] { return ++asked == 5 ? std::string("the clock says so") : std::string(); });
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
  EXPECT_EQ(outcome.status, engine::Status::failed);
  EXPECT_EQ(outcome.failure, "the clock says so");
  execution.reset();
  EXPECT_EQ(mine->failure(), "abandoned");  // nobody touches the buffers any more
}

TEST(Failure, AnExecutionOverAnAbandonedExchangeFails) {
  transport::LoopFabric fabric(2);
  const auto mine = fabric.exchange(0), theirs = fabric.exchange(1);
  Pair pair(1000);
  const auto execution = pair.start(*mine);
  mine->abandon();
  engine::Execution* const all[] = {execution.get()};
  EXPECT_EQ(engine::run(all, {}).failure, "abandoned");
}

}  // namespace
}  // namespace detccl::test
