// SPDX-License-Identifier: Apache-2.0
// Which reductions are sampled.
#include "nccl_api/sample_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace detccl::nccl_api {
namespace {

engine::Reduction floats(std::uint64_t count, plan::Collective collective = plan::Collective::all_reduce) {
  engine::Reduction call;
  call.collective = collective;
  call.count = count;
  return call;
}

TEST(OneOfEvery, NoneAllOrSo) {
  OneOfEvery none(0), all(1), seventh(7);
  std::vector<int> found;
  for (int call = 0; call < 70; ++call) {
    EXPECT_FALSE(none.due());
    EXPECT_TRUE(all.due());
    if (seventh.due()) found.push_back(call);
  }
  ASSERT_EQ(found.size(), 10u);
  std::array<int, 7> places{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i] / 7, static_cast<int>(i));
    ++places[static_cast<std::size_t>(found[i] % 7)];
  }
  EXPECT_LT(*std::max_element(places.begin(), places.end()), 6) << "not always the same one";
}

TEST(SampleChoice, OneOfEveryThreeIsDueAndNotAlwaysTheSame) {
  SampleChoice choice(3, 0);
  std::array<int, 3> places{};
  for (int window = 0; window < 300; ++window) {
    int due = 0;
    for (int& place : places) {
      const Sample sample = choice.due(floats(1));
      EXPECT_NE(sample, Sample::calibration);
      if (sample == Sample::no) continue;
      ++due;
      ++place;
    }
    EXPECT_EQ(due, 1);
  }
  for (const int place : places)
    EXPECT_GT(place, 60);
  SampleChoice never(0, 0);
  for (int call = 0; call < 10; ++call)
    EXPECT_EQ(never.due(floats(1)), Sample::no);
}

TEST(SampleChoice, OfEachClassTheFirstCallsAreCalibratedButTheVeryFirst) {
  using plan::Collective;
  SampleChoice choice(0, 6);
  engine::Reduction doubles = floats(16);
  doubles.type = contract::DataType::float64;
  // 64 to 127 bytes, and those that are of another class.
  const std::vector<engine::Reduction> classes = {floats(16), floats(32),
                                                  floats(16, Collective::reduce_scatter),
                                                  floats(16, Collective::reduce), doubles};
  for (int call = 0; call < 20; ++call) {
    for (const engine::Reduction& one : classes) {
      engine::Reduction other = one;
      other.count += static_cast<std::uint64_t>(call % 3);  // of the same class
      EXPECT_EQ(choice.due(other), call >= 1 && call <= 6 ? Sample::calibration : Sample::no) << call;
    }
  }
}

TEST(SampleChoice, AShadowSampleIsNoCalibration) {
  SampleChoice both(2, 6), shadow(2, 0), calibration(0, 6);
  int either = 0;
  for (int call = 0; call < 20; ++call) {
    const Sample expected =
        shadow.due(floats(1)) == Sample::shadow ? Sample::shadow : calibration.due(floats(1));
    if (expected == Sample::shadow) static_cast<void>(calibration.due(floats(1)));
    EXPECT_EQ(both.due(floats(1)), expected) << call;
    either += expected == Sample::no ? 0 : 1;
  }
  EXPECT_GE(either, 10);
  EXPECT_LE(either, 16);
}

TEST(SampleChoice, OnGpusAllRanksHaveToBeAble) {
  std::vector<Hello> hellos(3, make_hello({}, 0, ""));
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    hellos[rank].process += rank;
    hellos[rank].samples = 1;
  }
  EXPECT_EQ(find_sampling_obstacle(hellos), nullptr);
  hellos[1].samples = 0;
  EXPECT_STREQ(find_sampling_obstacle(hellos), "elsewhere");
  hellos[1].samples = 1;
  hellos[2].process = hellos[0].process;
  EXPECT_STREQ(find_sampling_obstacle(hellos), "ranks share a process");
  hellos[2].host += 1;  // the same number on another host
  EXPECT_EQ(find_sampling_obstacle(hellos), nullptr);
}

}  // namespace
}  // namespace detccl::nccl_api
