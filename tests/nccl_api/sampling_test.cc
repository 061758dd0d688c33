// SPDX-License-Identifier: Apache-2.0
// How reductions are sampled.
#include "nccl_api/sampling.h"

#include <gtest/gtest.h>

#include <array>

#include "nccl_api/teller.h"

namespace detccl::nccl_api {
namespace {

class SamplingTest : public testing::Test {
 protected:
  SamplingTest() {
    set_observer([](const profile::Operation*, profile::Moment, std::uint64_t) {});
  }
  ~SamplingTest() override { set_observer(nullptr); }

  QueuedReduction reduction(plan::Collective collective, const float* send, float* receive,
                            std::uint64_t count) {
    QueuedReduction r;
    r.alone = true;
    r.call.collective = collective;
    r.call.send = send;
    r.call.receive = receive;
    r.call.count = count;
    return r;
  }

  std::array<float, 64> a{}, b{};
  Sampling sampling{SampleChoice(3, 0), 4};
};

TEST_F(SamplingTest, WhatOverwritesItsInputIsNativeFirst) {
  using plan::Collective;
  EXPECT_EQ(sampling.look_at(reduction(Collective::all_reduce, a.data(), b.data(), 16)),
            Sampling::in_any_order);
  EXPECT_EQ(sampling.look_at(reduction(Collective::all_reduce, a.data(), a.data(), 16)),
            Sampling::native_first);
  EXPECT_EQ(sampling.look_at(reduction(Collective::all_reduce, a.data(), a.data() + 16, 16)),
            Sampling::in_any_order);
  // Rank 3's shard, in place: of the input it is the last part.
  EXPECT_EQ(sampling.look_at(reduction(Collective::reduce_scatter, a.data(), a.data() + 48, 16)),
            Sampling::native_first);
  EXPECT_EQ(sampling.look_at(reduction(Collective::reduce, a.data(), nullptr, 16)), Sampling::in_any_order);
}

TEST_F(SamplingTest, TurnsAlternateUnlessOneRankReducesInPlace) {
  sampling.agreed = Sampling::in_any_order;
  EXPECT_TRUE(sampling.take_turn());
  EXPECT_FALSE(sampling.take_turn());
  sampling.agreed = Sampling::native_first;
  EXPECT_TRUE(sampling.take_turn());
  EXPECT_TRUE(sampling.take_turn());
  sampling.agreed = Sampling::in_any_order;
  EXPECT_TRUE(sampling.take_turn());
}

TEST_F(SamplingTest, WhatCannotBeSampledSaysWhy) {
  QueuedReduction r = reduction(plan::Collective::all_reduce, a.data(), b.data(), kMostSampledBytes / 4);
  EXPECT_NE(sampling.look_at(r), Sampling::not_at_all) << "the buffers are not touched";
  EXPECT_EQ(sampling.obstacle(), nullptr);
  ++r.call.count;
  EXPECT_EQ(sampling.look_at(r), Sampling::not_at_all);
  EXPECT_STREQ(sampling.obstacle(), "memory");
  r.call.count = 1;
  r.alone = false;
  EXPECT_EQ(sampling.look_at(r), Sampling::not_at_all);
  EXPECT_STREQ(sampling.obstacle(), "grouped");
  set_observer(nullptr);
  r.alone = true;
  EXPECT_EQ(sampling.look_at(r), Sampling::not_at_all);
  EXPECT_STREQ(sampling.obstacle(), "nobody listens");
}

}  // namespace
}  // namespace detccl::nccl_api
