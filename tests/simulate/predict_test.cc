// SPDX-License-Identifier: Apache-2.0
#include "simulate/predict.h"

#include <gtest/gtest.h>

#include "simulate/closed_forms.h"

namespace detccl::simulate {
namespace {

using contract::DataType;
using plan::Collective;

Options options(std::uint32_t domains, std::uint32_t gpus) {
  Options o;
  o.platform.parameters = default_parameters("h200");
  o.platform.domains = domains;
  o.platform.gpus = gpus;
  return o;
}

TEST(Predict, ThreeRanksByHand) {
  const Options o = options(1, 3);
  const Case c{Collective::reduce_scatter, DataType::bfloat16, 3 << 20};
  const auto p = predict(c, plan::Schedule::direct, o);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->how, "simulated");
  // One exchange of two shards, then a fold that reads three and writes one.
  const double shard = 1 << 20;
  EXPECT_NEAR(p->seconds, 8.4e-6 + 3.4e-6 + 2 * shard / 370.8e9 + 4e-6 + 4 * shard / 4050e9, 1e-9);
}

TEST(Predict, TwoRanksExchangeByAnAllGather) {
  const Options o = options(1, 2);
  const Case c{Collective::reduce_scatter, DataType::bfloat16, 2 << 20};
  const double shard = 1 << 20;
  // One hop, by the protocol that is quickest: LL128.
  EXPECT_NEAR(predict(c, plan::Schedule::direct, o)->seconds,
              8.4e-6 + 1.9e-6 + shard / 0.9375 / 370.8e9 + 4e-6 + 3 * shard / 4050e9, 1e-9);
}

TEST(Predict, GrowsWithTheMessage) {
  const Options o = options(2, 4);
  for (const char* name : {"gather", "direct", "tree"}) {
    double last = 0;
    for (std::uint64_t bytes = 1 << 12; bytes <= 64 << 20; bytes *= 4) {
      const auto p =
          predict({Collective::all_reduce, DataType::bfloat16, bytes}, *plan::parse_schedule(name), o);
      ASSERT_TRUE(p);
      EXPECT_GT(p->seconds, last) << name << ' ' << bytes;
      last = p->seconds;
    }
  }
}

TEST(Predict, SlowerLinksTakeLonger) {
  Options o = options(2, 4);
  const Case c{Collective::all_reduce, DataType::float32, 16 << 20};
  const double fast = predict(c, plan::Schedule::direct, o)->seconds;
  const double native = predict_native(c, o).seconds;
  o.platform.parameters.network.bandwidth /= 2;
  EXPECT_GT(predict(c, plan::Schedule::direct, o)->seconds, fast);
  EXPECT_GT(predict_native(c, o).seconds, native);
}

TEST(Predict, ClosedFormsAreWhatIsSimulated) {
  Options o = options(4, 4);
  for (const char* name : {"gather", "direct"}) {
    for (const auto collective : {Collective::all_reduce, Collective::reduce_scatter}) {
      const Case c{collective, DataType::bfloat16, 16 << 20};
      o.most_messages = 4'000'000;
      const auto simulated = predict(c, *plan::parse_schedule(name), o);
      o.most_messages = 0;
      const auto formula = predict(c, *plan::parse_schedule(name), o);
      ASSERT_TRUE(simulated && formula);
      EXPECT_EQ(simulated->how, "simulated");
      EXPECT_EQ(formula->how, "closed form");
      EXPECT_NEAR(simulated->seconds / formula->seconds, 1, 0.15) << name;
    }
  }
}

/// Where ranks go in step, the time tick by tick is about what is simulated.
TEST(Predict, TicksAreWhatIsSimulated) {
  Options o = options(6, 8);
  o.settings.scratch_limit = 256 << 20;
  o.chunks = {16 << 20};
  for (const char* name :
       {"halving", "hier(direct,halving)/8", "hier(direct,halving:4)/8", "hier(direct,direct)/8"}) {
    for (const auto collective : {Collective::all_reduce, Collective::reduce_scatter}) {
      for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{128} << 20}) {
        const Case c{collective, DataType::bfloat16, bytes};
        o.most_messages = 4'000'000;
        const auto simulated = predict(c, *plan::parse_schedule(name), o);
        o.most_messages = 0;
        const auto ticks = predict(c, *plan::parse_schedule(name), o);
        ASSERT_TRUE(simulated && ticks);
        EXPECT_EQ(ticks->how, "closed form");
        EXPECT_NEAR(ticks->seconds / simulated->seconds, 1, 0.1) << name << " " << bytes;
      }
    }
  }
}

/// Two chunks, two exchanges each, whose bytes take no time to speak of: the second lane begins when the
/// first one's first exchange is complete, and its launches and latencies pass beside the first one's. Folds
/// are over before the next launch is.
TEST(Predict, TwoLanesByHand) {
  Options o = options(2, 1);
  o.chunks = {512};
  o.settings.lanes = 2;
  const Case c{Collective::all_reduce, DataType::float32, 1024};
  const auto p = predict(c, plan::Schedule::halving, o);
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->seconds, 3 * (8.4e-6 + 14e-6), 1e-7);
}

TEST(Predict, LanesUseLinksThatOneChunkLeavesIdle) {
  Options o = options(6, 8);
  o.settings.scratch_limit = 1 << 30;
  o.chunks = {16 << 20};
  const Case c{Collective::all_reduce, DataType::float32, 64 << 20};
  const plan::Schedule schedule = *plan::parse_schedule("hier(direct,halving:32)/8");
  const double one = predict(c, schedule, o)->seconds;
  o.settings.lanes = 4;
  const double four = predict(c, schedule, o)->seconds;
  EXPECT_LT(four, 0.9 * one);
  // No quicker than the ports: of every domain all other domains' part, and back.
  EXPECT_GT(four, 2 * (64 << 20) / 8 * 5 / 6 / 50e9);
  o.most_messages = 0;
  std::string why;
  EXPECT_FALSE(predict(c, schedule, o, &why));
  EXPECT_EQ(why, "too many messages to simulate lanes");
}

TEST(Predict, SaysWhyThereIsNone) {
  Options o = options(1, 4);
  std::string why;
  const Case c{Collective::all_reduce, DataType::bfloat16, 1 << 20};
  EXPECT_FALSE(predict(c, plan::Schedule::ring, o, &why));
  EXPECT_NE(why, "");
  o.most_messages = 0;
  EXPECT_FALSE(predict(c, plan::Schedule::tree, o, &why));
  EXPECT_EQ(why, "too many messages to simulate");
}

TEST(Predict, TermsAreParts) {
  const Options o = options(2, 4);
  const Case c{Collective::all_reduce, DataType::bfloat16, 64 << 20};
  const auto p = predict(c, plan::Schedule::direct, o);
  const Terms t = terms(c, plan::Schedule::direct, *p, o);
  for (const double part : {t.launches, t.latency, t.bandwidth, t.folds}) {
    EXPECT_GE(part, 0);
    EXPECT_LT(part, p->seconds);
  }
  EXPECT_GT(t.bandwidth, p->seconds / 2);
}

}  // namespace
}  // namespace detccl::simulate
