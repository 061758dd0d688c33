// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/node_choice.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "nccl_api/peer_choice.h"
#include "nccl_api/variable_values.h"

namespace detccl::nccl_api {
namespace {

Configuration asks_for(const char* schedule, std::uint32_t group = 0) {
  Configuration c;
  EXPECT_TRUE(take_schedule(schedule, c)) << schedule;
  c.group = group;
  return c;
}

/// One rank for each number, which is its host's; on a host every rank has a GPU of its own.
std::vector<Hello> ranks_on(const std::vector<std::uint64_t>& hosts) {
  std::vector<Hello> hellos;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    hellos.push_back(make_hello({}, 0, ""));
    hellos.back().host = hosts[rank];
    set_gpu(hellos.back(), "0000:" + std::to_string(10 + rank % 16) + ":00.0");
  }
  return hellos;
}

/// So many hosts with so many ranks each, in a row.
std::vector<Hello> hosts_of(std::size_t hosts, std::size_t ranks) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t rank = 0; rank < hosts * ranks; ++rank)
    numbers.push_back(100 + rank / ranks);
  return ranks_on(numbers);
}

TEST(NodeChoice, NodesAreTheHosts) {
  const Configuration c = asks_for("hier(peer,halving)");
  for (const std::size_t hosts : {2U, 3U, 5U, 16U}) {
    for (const std::uint32_t ranks : {2U, 4U, 8U}) {
      const NodeChoice choice = choose_nodes(c, hosts_of(hosts, ranks));
      EXPECT_EQ(choice.size, ranks) << hosts;
      EXPECT_EQ(choice.blocks, 32u);
      EXPECT_EQ(choice.why, "");
    }
  }
  EXPECT_EQ(choose_nodes(c, hosts_of(2, 16)).size, 8u) << "of more than 8 GPUs, several";
  EXPECT_EQ(choose_nodes(c, hosts_of(1, 16)).size, 8u);
  EXPECT_EQ(choose_nodes(c, hosts_of(3, 6)).size, 2u);
  EXPECT_EQ(choose_nodes(c, hosts_of(1, 12)).size, 4u) << "all are full";
}

TEST(NodeChoice, WhatIsSaidCounts) {
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,halving)/4"), hosts_of(2, 8)).size, 4u);
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,direct)/2"), hosts_of(1, 8)).size, 2u);
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,direct)", 2), hosts_of(2, 8)).size, 2u);
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,direct)", 2), hosts_of(1, 8)).size, 2u);
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,direct)", 64), hosts_of(16, 4)).size, 4u) << "a rack";
  EXPECT_EQ(choose_nodes(asks_for("hier(peer,direct)/4", 2), hosts_of(2, 8)).size, 4u);
  Configuration c = asks_for("hier(peer,direct)");
  c.peer_blocks = 17;
  EXPECT_EQ(choose_nodes(c, hosts_of(2, 4)).blocks, 17u);
}

TEST(NodeChoice, OneNodeIsPeersBusiness) {
  for (const std::uint32_t ranks : {2U, 3U, 7U, 8U}) {
    const Configuration c = asks_for("hier(peer,halving)");
    EXPECT_EQ(choose_nodes(c, hosts_of(1, ranks)).size, ranks);
    EXPECT_TRUE(choose_peers(c, hosts_of(1, ranks)).peer);
    EXPECT_EQ(choose_peers(c, hosts_of(1, ranks)).blocks, 32u);
  }
  const Configuration c = asks_for("hier(peer,halving)/8");
  EXPECT_EQ(choose_nodes(c, hosts_of(2, 2)).size, 4u) << "within a node, it is said";
  EXPECT_EQ(choose_peers(c, hosts_of(2, 2)).why, "rank 2 is on another host");
  Configuration blocks = c;
  blocks.contract = contract::parse_contract("tree:wide/8").value();
  EXPECT_EQ(choose_peers(blocks, hosts_of(1, 8)).why, "the contract has blocks");
  EXPECT_TRUE(may_choose_peers(blocks, 2)) << "kernels are to be loaded";
  EXPECT_FALSE(may_choose_peers(c, 1));
}

TEST(NodeChoice, RanksMayShareGpus) {
  std::vector<Hello> hellos = hosts_of(2, 4);
  const Configuration c = asks_for("hier(peer,halving)");
  set_gpu(hellos[5], std::string(gpu_of(hellos[1])));
  EXPECT_EQ(choose_nodes(c, hellos).blocks, 32u) << "another host's GPU";
  set_gpu(hellos[6], std::string(gpu_of(hellos[5])));
  EXPECT_EQ(choose_nodes(c, hellos).blocks, 8u) << "on every rank, whichever node shares";
  EXPECT_EQ(choose_nodes(c, hellos).size, 4u);
}

TEST(NodeChoice, WhatStandsAgainstItIsNamed) {
  const auto why = [](const char* schedule, const std::vector<Hello>& hellos) {
    const NodeChoice choice = choose_nodes(asks_for(schedule), hellos);
    EXPECT_EQ(choice.size, 0u) << schedule;
    return choice.why;
  };
  EXPECT_EQ(why("hier(peer,halving)", hosts_of(4, 1)), "no aligned groups of ranks are on one host each");
  EXPECT_EQ(why("hier(peer,halving)", ranks_on({1, 2, 1, 2})),
            "no aligned groups of ranks are on one host each");
  EXPECT_EQ(why("hier(peer,halving)", ranks_on({1, 1, 2})), "no aligned groups of ranks are on one host each")
      << "the last one is not full";
  EXPECT_EQ(why("hier(peer,halving)/4", ranks_on({1, 1, 1, 2, 2, 2, 2, 2})),
            "ranks 0 and 3, in a node of 4, are on two hosts");
  EXPECT_EQ(why("hier(peer,halving)/4", hosts_of(3, 2)), "6 ranks are no whole nodes of 4");
  EXPECT_EQ(why("hier(peer,halving)/16", hosts_of(2, 16)), "nodes have at most 8 ranks, not 16");
  EXPECT_EQ(why("hier(peer,halving)/1", hosts_of(2, 2)), "no aligned groups of ranks are on one host each");
}

}  // namespace
}  // namespace detccl::nccl_api
