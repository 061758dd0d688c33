// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/peer_choice.h"

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plan/tuner/file.h"

namespace detccl::nccl_api {
namespace {

std::string bus_id(std::size_t gpu) {
  return "0000:" + std::to_string(10 + gpu) + ":00.0";
}

/// Ranks of one host, each with a GPU of its own.
std::vector<Hello> node(std::size_t ranks, const Configuration& c = {}) {
  std::vector<Hello> hellos(ranks, make_hello(c, 0, ""));
  for (std::size_t rank = 0; rank < ranks; ++rank)
    set_gpu(hellos[rank], bus_id(rank));
  return hellos;
}

TEST(PeerChoice, TwoToEightRanksWithAGpuEach) {
  for (std::size_t ranks = 0; ranks <= 20; ++ranks) {
    const PeerChoice choice = choose_peers({}, node(ranks));
    EXPECT_EQ(choice.peer, ranks >= 2 && ranks <= 8) << ranks;
    EXPECT_EQ(choice.blocks, choice.peer ? 32u : 0u);
    EXPECT_EQ(may_choose_peers({}, ranks), choice.peer);
    EXPECT_EQ(choice.why, ranks > 8 ? "there are more than 8 ranks" : "");
  }
}

/// Every way to put up to four ranks on three hosts with three GPUs each.
TEST(PeerChoice, OneHostAndNoGpuTwice) {
  for (std::size_t ranks = 2; ranks <= 4; ++ranks) {
    std::size_t ways = 1, taken = 0, wanted = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      ways *= 9;
    for (std::size_t way = 0; way < ways; ++way) {
      std::vector<Hello> hellos = node(ranks);
      std::set<std::size_t> hosts, gpus;
      for (std::size_t r = 0, rest = way; r < ranks; ++r, rest /= 9) {
        hellos[r].host = 100 + rest % 3;
        set_gpu(hellos[r], bus_id(rest / 3 % 3));
        hosts.insert(rest % 3);
        gpus.insert(rest / 3 % 3);
      }
      const bool fits = hosts.size() == 1 && gpus.size() == ranks;
      const PeerChoice choice = choose_peers({}, hellos);
      ASSERT_EQ(choice.peer, fits) << ranks << " ranks, " << way << ": " << choice.why;
      ASSERT_EQ(choice.why.empty(), fits);
      taken += choice.peer;
      wanted += fits;
    }
    EXPECT_EQ(taken, wanted);
    EXPECT_EQ(wanted, ranks == 2 ? 18u : ranks == 3 ? 18u : 0u);
  }
}

TEST(PeerChoice, BlocksOfAllRanksOfAGpuFitOnIt) {
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    for (std::uint32_t gpus = 1; gpus <= ranks; ++gpus) {
      std::vector<Hello> hellos = node(ranks);
      std::vector<std::uint32_t> owners(gpus);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        set_gpu(hellos[r], bus_id(r * 5 % gpus));
        ++owners[r * 5 % gpus];
      }
      for (std::uint32_t blocks = 1; blocks <= 64; ++blocks) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
          const bool fits = owners[r * 5 % gpus] * blocks <= 132;
          ASSERT_EQ(!find_crowd(hellos, r, blocks, 132), fits) << ranks << " on " << gpus << ", " << blocks;
        }
      }
    }
  }
  std::vector<Hello> hellos = node(2);
  EXPECT_EQ(find_crowd(hellos, 1, 32, 16),
            "32 blocks of 1 ranks do not fit on its GPU's 16 multiprocessors (DETCCL_PEER_BLOCKS)");
  set_gpu(hellos[0], "");
  set_gpu(hellos[1], "");
  EXPECT_FALSE(find_crowd(hellos, 1, 32, 32)) << "where it is not known who shares a GPU";
}

TEST(PeerChoice, WhatStandsAgainstItIsNamed) {
  std::vector<Hello> hellos = node(4);
  set_gpu(hellos[3], bus_id(1));
  EXPECT_EQ(choose_peers({}, hellos).why, "ranks 1 and 3 share a GPU");
  hellos = node(4);
  hellos[2].host++;
  EXPECT_EQ(choose_peers({}, hellos).why, "rank 2 is on another host");
  hellos = node(4);
  set_gpu(hellos[2], "");
  EXPECT_EQ(choose_peers({}, hellos).why, "rank 2's GPU has no bus id");
}

TEST(PeerChoice, WhatIsAskedForCounts) {
  const auto choose = [](const Configuration& c) {
    const PeerChoice choice = choose_peers(c, node(4, c));
    EXPECT_EQ(may_choose_peers(c, 4), choice.peer) << choice.why;
    return choice;
  };
  Configuration c;
  c.peer_blocks = 0;
  EXPECT_EQ(choose(c).why, "DETCCL_PEER_BLOCKS=0");
  c.peer_blocks = 5;
  EXPECT_TRUE(choose(c).peer);
  EXPECT_EQ(choose(c).blocks, 5u);
  for (const char* contract : {"tree", "tree:native", "linear", "linear:native", "tree:wide/2", "linear/4"}) {
    Configuration with;
    with.contract = contract::parse_contract(contract).value();
    const bool blocks = with.contract.block != 0;
    EXPECT_EQ(choose(with).peer, !blocks) << contract;
    EXPECT_EQ(choose(with).why, blocks ? "the contract has blocks" : "") << contract;
  }
  Configuration tuned;
  tuned.tuning = std::make_shared<const plan::tuner::Coefficients>(plan::tuner::built_in("h200"));
  EXPECT_EQ(choose(tuned).why, "DETCCL_TUNING chooses among plans");
  Configuration proved;
  proved.prove = true;
  EXPECT_EQ(choose(proved).why, "DETCCL_PROVE asks for plans");
  Configuration named;
  named.schedule = plan::Schedule::direct;
  EXPECT_FALSE(choose(named).peer);
  EXPECT_EQ(choose(named).why, "") << "goes without saying";
}

TEST(PeerChoice, ByNameItIsTriedWhereverItMayBe) {
  Configuration c;
  c.peer = true;
  c.tuning = std::make_shared<const plan::tuner::Coefficients>(plan::tuner::built_in("h200"));
  EXPECT_EQ(choose_peers(c, node(8, c)).blocks, 32u);
  std::vector<Hello> shared = node(8, c);
  set_gpu(shared[7], bus_id(0));
  EXPECT_TRUE(choose_peers(c, shared).peer);
  EXPECT_EQ(choose_peers(c, shared).blocks, 8u);
  for (Hello& hello : shared)
    set_gpu(hello, "");
  EXPECT_EQ(choose_peers(c, shared).blocks, 8u) << "not known";
  c.peer_blocks = 64;
  EXPECT_EQ(choose_peers(c, shared).blocks, 64u);
  EXPECT_TRUE(choose_peers(c, node(9, c)).peer) << "for an error that says why not";
  EXPECT_FALSE(choose_peers(c, node(1, c)).peer);
}

/// A machine whose NVML is made up: which GPUs it knows, and which pairs have NVLink.
struct Machine {
  std::set<std::string> known;
  std::set<std::pair<std::string, std::string>> linked;
  int answer = Nvml::kSuccess;
};
Machine machine;

int find_device(const char* id, Nvml::Device* device) {
  const auto found = machine.known.find(id);
  if (found == machine.known.end()) return 6;  // as NVML: not found
  *device = const_cast<std::string*>(&*found);
  return Nvml::kSuccess;
}

int find_status(Nvml::Device a, Nvml::Device b, int capability, int* status) {
  const auto pair = std::pair(*static_cast<std::string*>(a), *static_cast<std::string*>(b));
  *status = capability == Nvml::kNvlink && machine.linked.count(pair) != 0 ? Nvml::kConnected : 5;
  return machine.answer;
}

class PeerObstacle : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("NCCL_P2P_DISABLE");
    unsetenv("NCCL_P2P_LEVEL");
    machine = {};
    for (std::size_t a = 0; a < 4; ++a) {
      machine.known.insert(bus_id(a));
      for (std::size_t b = 0; b < 4; ++b) {
        if (a != b) machine.linked.emplace(bus_id(a), bus_id(b));
      }
    }
    nvml_.by_bus_id = find_device;
    nvml_.p2p_status = find_status;
  }
  std::string obstacle(std::size_t rank) const { return find_obstacle(nvml_, node(4), rank).value_or(""); }
  Nvml nvml_;
};

TEST_F(PeerObstacle, NoneWhereAllAreJoined) {
  for (std::size_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(obstacle(rank), "");
}

TEST_F(PeerObstacle, APairWithoutNvlink) {
  machine.linked.erase({bus_id(1), bus_id(3)});
  machine.linked.erase({bus_id(3), bus_id(1)});
  EXPECT_EQ(obstacle(0), "");
  EXPECT_EQ(obstacle(1), "no NVLink joins it with rank 3");
  EXPECT_EQ(obstacle(3), "no NVLink joins it with rank 1");
}

TEST_F(PeerObstacle, WhatNvmlDoesNotKnow) {
  machine.known.erase(bus_id(2));
  EXPECT_EQ(obstacle(0), "NVML does not know rank 2's GPU " + bus_id(2));
  EXPECT_EQ(obstacle(2), "NVML does not know GPU " + bus_id(2));
  machine.answer = 3;
  EXPECT_EQ(obstacle(0), "NVML does not say whether NVLink joins it with rank 1");
  nvml_ = {};
  EXPECT_EQ(obstacle(0), "NVML is not there, which knows of NVLink");
}

TEST_F(PeerObstacle, NcclIsToldNotToUseSuchLinks) {
  setenv("NCCL_P2P_DISABLE", "0", 1);
  EXPECT_EQ(obstacle(0), "");
  setenv("NCCL_P2P_DISABLE", "1", 1);
  EXPECT_EQ(obstacle(0), "NCCL_P2P_DISABLE=1");
  unsetenv("NCCL_P2P_DISABLE");
  setenv("NCCL_P2P_LEVEL", "NVL", 1);
  EXPECT_EQ(obstacle(0), "");
  setenv("NCCL_P2P_LEVEL", "LOC", 1);
  EXPECT_EQ(obstacle(0), "NCCL_P2P_LEVEL=LOC");
  unsetenv("NCCL_P2P_LEVEL");
}

}  // namespace
}  // namespace detccl::nccl_api
