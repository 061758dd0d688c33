// SPDX-License-Identifier: Apache-2.0
#include "plan/summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "specs.h"

namespace detccl::plan::testing {
namespace {

TEST(Summary, WhatIsSentIsReceived) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Spec spec = random_spec(random, 20);
    std::uint64_t sent = 0, received = 0;
    for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) {
      const Cost c = cost(spec, rank, contract::DataType::float16);
      sent += c.bytes_sent;
      received += c.bytes_received;
      EXPECT_LT(c.peers, spec.ranks) << describe(spec);
    }
    EXPECT_EQ(sent, received) << describe(spec);
  }
}

TEST(Summary, PartialsHaveTheAccumulationType) {
  Spec spec;
  spec.schedule = Schedule::ring;
  spec.contract.order = contract::Order::linear;
  spec.ranks = 4;
  spec.count = 10;
  // Rank 2 sends a partial up and a result down.
  EXPECT_EQ(cost(spec, 2, contract::DataType::bfloat16).bytes_sent, 10u * (4 + 2));
  EXPECT_EQ(cost(spec, 2, contract::DataType::float64).bytes_sent, 10u * (8 + 8));
  spec.contract.accumulate = contract::Accumulate::native;
  EXPECT_EQ(cost(spec, 2, contract::DataType::bfloat16).bytes_sent, 10u * (2 + 2));
}

TEST(Summary, PiecesAreAddedUpAndScratchIsTheLargest) {
  Spec spec;
  spec.collective = Collective::reduce_scatter;
  spec.schedule = Schedule::ring;
  spec.contract.order = contract::Order::linear;
  spec.ranks = 3;
  spec.count = spec.stride = 10;
  Cost sum;
  for (std::uint32_t root = 0; root < 3; ++root) {
    Spec piece = spec;
    piece.collective = Collective::reduce;
    piece.root = root;
    const Cost c = cost(piece, 1, contract::DataType::float32);
    sum.stages += c.stages;
    sum.bytes_sent += c.bytes_sent;
    sum.bytes_received += c.bytes_received;
    sum.scratch_bytes = std::max(sum.scratch_bytes, c.scratch_bytes);
  }
  const Cost whole = cost(spec, 1, contract::DataType::float32);
  EXPECT_EQ(whole.stages, sum.stages);
  EXPECT_EQ(whole.bytes_sent, sum.bytes_sent);
  EXPECT_EQ(whole.bytes_received, sum.bytes_received);
  EXPECT_EQ(whole.scratch_bytes, sum.scratch_bytes);
  EXPECT_EQ(whole.peers, 2u);
}

}  // namespace
}  // namespace detccl::plan::testing
