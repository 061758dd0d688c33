// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/topology.h"

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::nccl_api {
namespace {

using Hosts = std::vector<std::uint64_t>;

TEST(Topology, GroupsAreTheLargestAlignedOnesOnOneHost) {
  EXPECT_EQ(find_groups(Hosts{7}).group, 1u);
  EXPECT_EQ(find_groups(Hosts{1, 1, 1, 1, 1, 1, 1, 1}).group, 8u);
  EXPECT_EQ(find_groups(Hosts{1, 1, 1, 1, 2, 2, 2, 2}).group, 4u);
  EXPECT_EQ(find_groups(Hosts{1, 1, 2, 2, 3, 3}).group, 2u);
  EXPECT_EQ(find_groups(Hosts{1, 2, 3, 4}).group, 1u);
  EXPECT_EQ(find_groups(Hosts{1, 1, 1, 1, 2, 2, 2}).group, 4u);  // the last host is not full
  EXPECT_EQ(find_groups(Hosts{1, 1, 1, 1, 2, 2, 2}).why, "");
}

TEST(Topology, RanksThatAreNotInARowAreNotGroupedAndItIsSaid) {
  const Grouping dealt = find_groups(Hosts{1, 2, 1, 2, 1, 2, 1, 2});
  EXPECT_EQ(dealt.group, 1u);
  EXPECT_NE(dealt.why.find("4 ranks or more"), std::string::npos) << dealt.why;
  const Grouping six = find_groups(Hosts{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
  EXPECT_EQ(six.group, 2u);
  EXPECT_NE(six.why, "");
}

TEST(Topology, AHostIsWhatNcclTakesForOne) {
  unsetenv("NCCL_HOSTID");
  const std::uint64_t here = host_number();
  EXPECT_EQ(host_number(), here);
  setenv("NCCL_HOSTID", "another", 1);
  EXPECT_NE(host_number(), here);
  unsetenv("NCCL_HOSTID");
}

}  // namespace
}  // namespace detccl::nccl_api
