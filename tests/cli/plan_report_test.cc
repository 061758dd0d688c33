// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_report.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/plan_memory.h"

namespace detccl::cli {
namespace {

plan::Spec four_ranks() {
  plan::Spec spec;
  spec.schedule = plan::Schedule::gather;
  spec.ranks = 4;
  spec.count = 8;
  return spec;
}

TEST(PlanReport, ProofThatFails) {
  PlanReport report = report_plan(four_ranks(), contract::DataType::float32, std::nullopt, false);
  EXPECT_EQ(exit_status(report), 0);
  report.proof = plan::Proof{false, "rank 0, stage 0: a fold without operands"};
  EXPECT_EQ(exit_status(report), 1);
  EXPECT_NE(to_text(report).find("NOT PROVED: rank 0, stage 0: a fold without operands\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["proved"], false);
  EXPECT_EQ(json["failure"], "rank 0, stage 0: a fold without operands");
}

TEST(PlanReport, ProofThatSucceeds) {
  const PlanReport report = report_plan(four_ranks(), contract::DataType::float32, 2, true);
  EXPECT_EQ(exit_status(report), 0);
  EXPECT_EQ(report.of_rank.bytes_sent, 3 * 32u);
  EXPECT_EQ(report.least.peers, 3u);
  EXPECT_NE(to_text(report).find("rank 2"), std::string::npos);
}

/// Without what the environment of the test says.
class PlanMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames)
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static constexpr const char* kNames[] = {"NCCL_BUFFSIZE",          "NCCL_LL_BUFFSIZE",
                                           "NCCL_LL128_BUFFSIZE",    "NCCL_P2P_NET_CHUNKSIZE",
                                           "NCCL_MAX_P2P_NCHANNELS", "NCCL_NCHANNELS_PER_NET_PEER"};
  static constexpr std::uint64_t kMiB = 1 << 20;
};

plan::Spec spec_of(const plan::Schedule& schedule, std::uint32_t ranks) {
  plan::Spec spec;
  spec.schedule = schedule;
  spec.ranks = ranks;
  spec.count = 1 << 16;
  return spec;
}

const plan::Schedule kDirect = plan::Schedule::direct;
const plan::Schedule kHier = plan::hier(plan::Kind::direct, plan::Kind::halving, 8);

TEST_F(PlanMemory, NcclsDefaults) {
  const ConnectionMemory few(spec_of(kDirect, 16), 8, std::nullopt);
  EXPECT_EQ(few.near_bytes(), 12 * kMiB);  // 10 where values arrive, 2 where they leave
  EXPECT_EQ(few.far_bytes(), 128 * kMiB);
  const ConnectionMemory many(spec_of(kDirect, 2432), 8, std::nullopt);
  EXPECT_EQ(many.bytes(7, 0), 7 * 12 * kMiB);
  EXPECT_EQ(many.bytes(7, 300), (7 * 12 + 128) * kMiB);
  EXPECT_EQ(many.bytes(0, 300), many.bytes(0, 1));
}

TEST_F(PlanMemory, ChannelsOfAPeer) {
  const auto channels = [](const plan::Schedule& schedule, std::uint32_t ranks, std::uint32_t near) {
    return ConnectionMemory(spec_of(schedule, ranks), near, std::nullopt).channels();
  };
  EXPECT_EQ(channels(kDirect, 8, 8), 32u);  // of a single domain: all
  EXPECT_EQ(channels(kDirect, 16, 8), 4u);
  EXPECT_EQ(channels(kHier, 2432, 8), 4u);
  EXPECT_EQ(channels(kDirect, 2432, 8), 1u);  // NCCL's own
  setenv("NCCL_MAX_P2P_NCHANNELS", "128", 1);
  EXPECT_EQ(channels(kDirect, 256, 8), 2u);
  EXPECT_EQ(channels(kDirect, 257, 8), 1u);
  setenv("NCCL_MAX_P2P_NCHANNELS", "2", 1);  // no more than there are
  EXPECT_EQ(channels(kHier, 2432, 8), 2u);
}

TEST_F(PlanMemory, TheEnvironmentsValues) {
  setenv("NCCL_BUFFSIZE", "1048576", 1);
  setenv("NCCL_LL128_BUFFSIZE", "1048576", 1);
  setenv("NCCL_P2P_NET_CHUNKSIZE", "262144", 1);
  setenv("NCCL_MAX_P2P_NCHANNELS", "8", 1);
  setenv("NCCL_NCHANNELS_PER_NET_PEER", "1", 1);
  const ConnectionMemory memory(spec_of(kDirect, 16), 8, std::nullopt);
  EXPECT_EQ(memory.near_bytes(), 6 * kMiB);
  EXPECT_EQ(memory.far_bytes(), 64 * kMiB);
  EXPECT_EQ(memory.channels(), 1u);
  EXPECT_EQ(ConnectionMemory(spec_of(kDirect, 8), 8, std::nullopt).channels(), 8u);
  EXPECT_EQ(ConnectionMemory(spec_of(kDirect, 16), 8, 16).channels(), 16u);
  setenv("NCCL_BUFFSIZE", "4M", 1);  // no number
  EXPECT_EQ(ConnectionMemory(spec_of(kDirect, 16), 8, 16).near_bytes(), 8 * kMiB);
}

TEST_F(PlanMemory, OverPeerMemory) {
  const contract::Contract tree;
  EXPECT_EQ(peer_bytes(1, tree, 32), 0u);
  EXPECT_EQ(peer_bytes(9, tree, 32), 0u);
  EXPECT_EQ(peer_bytes(8, contract::parse_contract("tree:wide/2").value(), 32), 0u);
  // Four slots of 256 KB for values and as many for results, and from each rank two packets of values and two
  // of results, 16 KB each.
  EXPECT_EQ(peer_bytes(8, tree, 32), 16384 + 32 * (2 * kMiB + 8 * 64 * 1024));
  plan::Spec spec;
  spec.ranks = 8;
  spec.count = 1 << 16;
  const PlanReport report = report_plan(spec, contract::DataType::float32, std::nullopt, false);
  EXPECT_NE(to_text(report).find("peer memory: 80 MiB in 32 blocks, 36 in 8,"), std::string::npos)
      << to_text(report);
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["peer_memory"]["bytes"], peer_bytes(8, tree, 32));
  spec.ranks = 9;
  EXPECT_EQ(to_text(report_plan(spec, contract::DataType::float32, std::nullopt, false)).find("peer memory"),
            std::string::npos);
}

TEST_F(PlanMemory, OfTheRanksPeers) {
  plan::Spec spec;
  spec.schedule = plan::hier(plan::Kind::direct, plan::Kind::halving, 8);
  spec.ranks = 64;
  spec.count = 1 << 16;
  const PlanReport report = report_plan(spec, contract::DataType::float32, 9, false, {8, 2});
  EXPECT_EQ(report.of_rank.near_peers, 7u);
  EXPECT_EQ(report.of_rank.peers, 10u);
  EXPECT_EQ(report.of_rank.connection_bytes, (7 * 2 * 12 + 128) * kMiB);
  EXPECT_NE(to_text(report).find("12 MiB for each near peer and channel, 2 channels a peer"),
            std::string::npos)
      << to_text(report);
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["rank"]["connection_bytes"], (7 * 2 * 12 + 128) * kMiB);
  const std::string one = to_text(report_plan(spec, contract::DataType::float32, 9, false, {8, 1}));
  EXPECT_NE(one.find("channel, 1 channel a peer"), std::string::npos) << one;
}

}  // namespace
}  // namespace detccl::cli
