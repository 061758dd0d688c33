// SPDX-License-Identifier: Apache-2.0
// Parts of the sweep programs that take no processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench.h"
#include "statistics.h"
#include "values.h"

namespace detccl::perf {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, TheIntervalIsThatOfTheTables) {
  // Ranks of the 95 % interval of a median, as printed in books.
  const std::vector<std::array<int, 3>> cases = {{1, 1, 1},  {5, 1, 5},   {6, 1, 6},   {9, 2, 8},
                                                 {10, 2, 9}, {11, 2, 10}, {20, 6, 15}, {30, 10, 21}};
  for (const auto& [n, low, high] : cases) {
    const Spread s = spread(one_to(n));
    EXPECT_EQ(s.low, low) << n;
    EXPECT_EQ(s.high, high) << n;
    EXPECT_EQ(s.median, (n + 1) / 2.0) << n;
  }
}

TEST(Statistics, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::exponential_distribution<double> draw(1.0);
  int held = 0;
  constexpr int kTrials = 4000;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> values(11);
    std::generate(values.begin(), values.end(), [&] { return draw(random); });
    const Spread s = spread(values);
    held += s.low <= std::log(2.0) && std::log(2.0) <= s.high ? 1 : 0;
  }
  EXPECT_GT(held, kTrials * 0.95);  // it is 98.8 %
}

TEST(Digest, OfAWholeIsTheSumOfItsPieces) {
  std::vector<std::byte> data(1003);
  Values(contract::DataType::uint8, contract::Op::sum, 1).fill(0, data);
  const std::span<const std::byte> all(data);
  EXPECT_EQ(digest(all, 0), digest(all.first(64), 0) + digest(all.subspan(64), 64));
  const std::uint64_t before = digest(all, 0);
  std::swap_ranges(data.begin(), data.begin() + 8, data.begin() + 8);
  EXPECT_NE(digest(all, 0), before);
}

class BenchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"NCCL_HOSTID", "NCCL_SOCKET_IFNAME", "NCCL_MULTI_RANK_GPU_ENABLE"})
      unsetenv(name);
    setenv("CUDA_MPS_PIPE_DIRECTORY", "/nowhere", 1);
  }
  Library library_ = load_library(HOSTNCCL_LIBRARY);  // 2.28.9 in its own words
};

TEST_F(BenchTest, RanksThatShareAGpuAreHostsOfTheirOwnUntil2_30) {
  const Sharing sharing = set_up_bench(Bench::automatic, library_, {5, 8}, 5, 1);
  EXPECT_EQ(sharing.bench, Bench::socket);
  EXPECT_STREQ(std::getenv("NCCL_HOSTID"), "h5");
  EXPECT_STREQ(std::getenv("NCCL_SOCKET_IFNAME"), "lo");
  EXPECT_NE(sharing.warning.find("MPS"), std::string::npos);
}

TEST_F(BenchTest, RanksWithAGpuEachNeedNothing) {
  const Sharing sharing = set_up_bench(Bench::automatic, library_, {1, 2}, 1, 2);
  EXPECT_EQ(sharing.bench, Bench::none);
  EXPECT_EQ(std::getenv("NCCL_HOSTID"), nullptr);
  EXPECT_EQ(sharing.warning, "");
}

TEST_F(BenchTest, WhatIsSetAlreadyStays) {
  setenv("NCCL_HOSTID", "node1", 1);
  set_up_bench(Bench::socket, library_, {0, 2}, 0, 1);
  EXPECT_STREQ(std::getenv("NCCL_HOSTID"), "node1");
}

TEST_F(BenchTest, P2pSaysWhichVersionItNeeds) {
  try {
    set_up_bench(Bench::p2p, library_, {0, 2}, 0, 1);
    FAIL() << "2.28.9 was taken";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("2.30"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("2.28.9"), std::string::npos) << e.what();
  }
  EXPECT_EQ(std::getenv("NCCL_MULTI_RANK_GPU_ENABLE"), nullptr);
}

}  // namespace
}  // namespace detccl::perf
