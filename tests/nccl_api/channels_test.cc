// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/channels.h"

#include <gtest/gtest.h>

namespace detccl::nccl_api {
namespace {

using plan::Kind;
using plan::Schedule;

std::optional<std::uint32_t> channels(std::optional<Schedule> schedule, std::uint32_t ranks,
                                      std::uint32_t group = 0) {
  return channels_per_peer(schedule, contract::Contract{}, group, ranks);
}

TEST(Channels, FewRanksWhateverTheSchedule) {
  for (const std::uint32_t ranks : {1u, 2u, 8u, 32u}) {
    EXPECT_EQ(channels(std::nullopt, ranks), 4u) << ranks;
    EXPECT_EQ(channels(Schedule::direct, ranks), 4u) << ranks;
  }
}

TEST(Channels, ManyRanksWhereEachHasFewPeers) {
  for (const std::uint32_t ranks : {33u, 64u, 2432u, 16384u, 16385u}) {
    EXPECT_EQ(channels(Schedule::halving, ranks), 4u) << ranks;
    EXPECT_EQ(channels(Schedule::tree, ranks), 4u) << ranks;
    EXPECT_EQ(channels(plan::hier(Kind::direct, Kind::halving, 8), ranks), 4u) << ranks;
    EXPECT_EQ(channels(plan::hier(Kind::direct, Kind::halving, 8, 32), ranks), 4u) << ranks;
  }
}

TEST(Channels, NcclsOwnWhereEachHasManyPeers) {
  EXPECT_EQ(channels(std::nullopt, 33), std::nullopt);  // may choose direct
  EXPECT_EQ(channels(Schedule::direct, 129), 4u);
  EXPECT_EQ(channels(Schedule::direct, 130), std::nullopt);
  EXPECT_EQ(channels(Schedule::gather, 2432), std::nullopt);
  EXPECT_EQ(channels(plan::hier(Kind::direct, Kind::direct, 8), 512), 4u);  // 70 peers
  EXPECT_EQ(channels(plan::hier(Kind::direct, Kind::direct, 8), 2432), std::nullopt);
}

TEST(Channels, TheGroupThatIsStillToBeFound) {
  const Schedule open = plan::hier(Kind::direct, Kind::direct, 0);
  EXPECT_EQ(channels(open, 512), 4u);
  EXPECT_EQ(channels(open, 512, 2), std::nullopt);  // 256 groups
  EXPECT_EQ(channels(open, 512, 64), 4u);
}

TEST(Channels, AScheduleThatCannotBeIsOneOfManyPeers) {
  EXPECT_EQ(channels(Schedule::ring, 2432), std::nullopt);  // not with the contract tree
  contract::Contract linear;
  linear.order = contract::Order::linear;
  EXPECT_EQ(channels_per_peer(Schedule::ring, linear, 0, 2432), 4u);
}

}  // namespace
}  // namespace detccl::nccl_api
