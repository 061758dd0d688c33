// SPDX-License-Identifier: Apache-2.0
// Ranks as processes: ordinary work, deaths, late comers. What each rank has to see is in rank_program.cc.
#include <gtest/gtest.h>

#include "launcher.h"

namespace detccl::test {
namespace {

constexpr int kKilled = 128 + 9;

/// All ranks but `victim` (-1: all) must succeed.
std::vector<RankOutcome> expect_success(const Launch& what, int victim, int victims_code) {
  const std::vector<RankOutcome> outcomes = launch(what);
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const int expected = static_cast<int>(rank) == victim ? victims_code : 0;
    EXPECT_EQ(outcomes[rank].exit_code, expected) << "rank " << rank << ": " << outcomes[rank].output;
  }
  return outcomes;
}

std::vector<RankOutcome> with_victim(const char* scenario, int ranks, int victim,
                                     int victims_code = kKilled) {
  return expect_success({scenario, ranks, {{"TEST_VICTIM", std::to_string(victim)}}}, victim, victims_code);
}

TEST(Processes, OrdinaryWork) {
  for (const int ranks : {1, 2, 5})
    expect_success({"work", ranks, {}}, -1, 0);
}

TEST(Processes, OverTcp) {
  expect_success({"work", 3, {{"UCX_TLS", "tcp,self"}, {"UCX_NET_DEVICES", "lo"}}}, -1, 0);
}

TEST(Processes, ARankIsKilled) {
  const auto outcomes = with_victim("killed", 4, 2);
  EXPECT_NE(outcomes[0].output.find("rank 2"), std::string::npos) << outcomes[0].output;
}

TEST(Processes, TheRootsProcessIsKilled) {
  with_victim("killed", 3, 0);
}

TEST(Processes, ADeathShowsWhileNothingRuns) {
  with_victim("killed_while_idle", 3, 1);
  with_victim("killed_while_idle", 3, 0);
}

TEST(Processes, ADeadRanksChildrenDoNotKeepItAlive) {
  with_victim("killed_with_children", 3, 1);
}

TEST(Processes, ARankExitsWithoutDestroy) {
  with_victim("vanished", 3, 1, 0);
}

TEST(Processes, DataOfARankThatHasLeft) {
  expect_success({"early_leaver", 3, {}}, -1, 0);
}

TEST(Processes, TheRootsProcessLeavesInGoodOrder) {
  expect_success({"root_gone", 2, {}}, -1, 0);
}

TEST(Processes, AStuckCollectiveTimesOut) {
  const auto outcomes = expect_success({"stuck", 3, {{"HOSTNCCL_TIMEOUT", "1"}}}, -1, 0);
  EXPECT_NE(outcomes[1].output.find("AllReduce of 10 float32"), std::string::npos) << outcomes[1].output;
}

TEST(Processes, InitTimesOutWhenRanksAreMissing) {
  const auto outcomes = expect_success({"incomplete", 3, {{"HOSTNCCL_TIMEOUT", "1"}}, 2}, -1, 0);
  EXPECT_NE(outcomes[0].output.find("all 3 ranks to join"), std::string::npos) << outcomes[0].output;
}

}  // namespace
}  // namespace detccl::test
