// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/topology.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nccl_api/fabric.h"
#include "nccl_api/hello.h"
#include "nccl_api/settings.h"

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
  EXPECT_NE(dealt.why.find("groups of 1 that are near each other instead of 4"), std::string::npos)
      << dealt.why;
  const Grouping six = find_groups(Hosts{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2});
  EXPECT_EQ(six.group, 2u);
  EXPECT_NE(six.why.find("6 ranks or more"), std::string::npos) << six.why;
}

TEST(Topology, ADomainThatIsNotFullBelongsLast) {
  EXPECT_EQ(find_groups(Hosts{1, 1, 1, 1, 2, 2, 2, 2, 3}).why, "");
  const Grouping first = find_groups(Hosts{3, 1, 1, 1, 1, 2, 2, 2, 2});
  EXPECT_EQ(first.group, 1u);
  EXPECT_NE(first.why.find("instead of 4"), std::string::npos) << first.why;
  const Grouping dealt = find_groups(Hosts{1, 2, 1, 2, 1, 2, 1, 2, 3});  // one rank alone excuses nothing
  EXPECT_NE(dealt.why.find("instead of 4"), std::string::npos) << dealt.why;
}

/// What the ranks of racks of 18 hosts with 4 GPUs each tell each other.
std::vector<Hello> racks(std::size_t count, bool with_fabric) {
  std::vector<Hello> hellos;
  for (std::size_t rank = 0; rank < count * 72; ++rank) {
    Hello hello = make_hello(Configuration{}, 0, "");
    hello.host = 1000 + rank / 4;
    Fabric fabric;
    fabric.cluster.fill(7);
    fabric.clique = static_cast<std::uint32_t>(rank / 72);
    hello.domain = domain_number(with_fabric ? std::optional(fabric) : std::nullopt, hello.host);
    hellos.push_back(hello);
  }
  return hellos;
}

TEST(Topology, TheRanksOfARackAreNearEachOther) {
  const std::vector<Hello> hellos = racks(3, true);
  EXPECT_EQ(find_disagreement(hellos), std::nullopt);
  EXPECT_EQ(engine_settings(Configuration{}, true, hellos).group, 8u);  // 72 is nine times 8
  EXPECT_EQ(engine_settings(Configuration{}, true, racks(3, false)).group, 4u);
  Configuration says_two;
  says_two.group = 2;
  EXPECT_EQ(engine_settings(says_two, true, hellos).group, 2u);
}

TEST(Topology, RanksWhoseFabricIsNotKnownAreNearThoseOfTheirHost) {
  std::vector<Hello> hellos = racks(2, true);
  for (std::size_t rank = 4; rank < 8; ++rank)
    hellos[rank].domain = hellos[rank].host;  // NVML did not answer there
  EXPECT_EQ(engine_settings(Configuration{}, true, hellos).group, 4u);
}

TEST(Topology, ADomainIsAClusterAndACliqueOfIt) {
  Fabric a;
  a.cluster[3] = 1;
  Fabric b = a;
  EXPECT_EQ(domain_number(a, 1), domain_number(b, 2));
  b.clique = 1;
  EXPECT_NE(domain_number(a, 1), domain_number(b, 1));
  b = a;
  b.cluster[3] = 2;
  EXPECT_NE(domain_number(a, 1), domain_number(b, 1));
  EXPECT_EQ(domain_number(std::nullopt, 5), 5u);
}

TEST(Topology, WithoutNvmlOrByOrderThereIsNoFabric) {
  setenv("NCCL_MNNVL_ENABLE", "0", 1);
  EXPECT_FALSE(find_fabric("0000:00:00.0"));
  unsetenv("NCCL_MNNVL_ENABLE");
  EXPECT_FALSE(find_fabric("no such device"));
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
