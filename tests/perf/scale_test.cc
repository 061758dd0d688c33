// SPDX-License-Identifier: Apache-2.0
// What measures how things grow with the number of ranks, in small.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::Outcome;
using detccl::test::run;

/// What the command, which must pass, writes with --json.
nlohmann::json results_of(const std::string& command) {
  const Folder folder;
  const Outcome outcome = run(command + " --json " + folder.file("j"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::ifstream file(folder.file("j"));
  return nlohmann::json::parse(file);
}

TEST(ScalingBench, EveryFigureForEveryNumberOfRanks) {
  const nlohmann::json j =
      results_of(SCALING_BENCH_PROGRAM " --ranks 8,24,64 --most-virtual 24 --elements 1000 --repeats 1");
  EXPECT_EQ(j.at("complete"), true);
  ASSERT_EQ(j.at("results").size(), 3u);
  for (const auto& row : j.at("results")) {
    EXPECT_GT(row.at("plan").at("first_call_us"), 0.0);
    EXPECT_GT(row.at("plan").at("heap_bytes"), 0);
    EXPECT_GT(row.at("proof_seconds"), 0.0);
    EXPECT_EQ(row.at("agreement").at("group_found"), 8);
    EXPECT_GE(row.at("trace").at("bytes_per_record"), 96.0);
    EXPECT_EQ(row.contains("call"), row.at("ranks") <= 24);
    if (row.contains("call")) {
      EXPECT_EQ(row.at("call").at("equal_to_reference"), true);
    }
  }
}

TEST(ScalingBench, UsageErrorsExitWithTwo) {
  for (const char* options : {"--ranks 9", "--ranks 0", "--schedule star", "--repeats 0", "--what"})
    EXPECT_EQ(run(SCALING_BENCH_PROGRAM " " + std::string(options)).exit_code, 2) << options;
  EXPECT_EQ(run(SCALING_BENCH_PROGRAM " --help").exit_code, 0);
}

const std::string kHostScale =
    "env NCCL_SOCKET_IFNAME=lo OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " HOST_SCALE_SCRIPT
    " --bin " DETCCL_TEST_BIN " ";

TEST(HostScale, OneDigestForAllNumbersOfRanksAndGroups) {
  const nlohmann::json j = results_of(kHostScale + "--ranks 0 --counts 2 4 --groups 2 --costs");
  EXPECT_EQ(j.at("passed"), true);
  std::set<std::string> digests;
  for (const auto& row : j.at("digests")) {
    EXPECT_EQ(row.at("equal_to_reference"), true);
    EXPECT_GT(row.at("creation_seconds"), 0.0);
    EXPECT_EQ(row.at("elements"), 43008);
    digests.insert(row.at("digest").get<std::string>());
  }
  EXPECT_EQ(j.at("digests").size(), 2 * 5u);
  EXPECT_EQ(digests.size(), 1u);
}

TEST(RankDigest, UsageErrorsExitWithTwo) {
  const std::string program = DETCCL_TEST_BIN "/rank_digest ";
  for (const char* options : {"--values 3", "--values 0", "--values x", "--calls -1", "--bytes 1", "what"})
    EXPECT_EQ(run(program + options).exit_code, 2) << options;
  EXPECT_EQ(run(program + "--help").exit_code, 0);
}

TEST(HostScale, NumbersOfRanksThatDivideNothing) {
  const nlohmann::json j =
      results_of(kHostScale + "--ranks 0 --counts 5 11 --all-schedules 5 --groups 2 --costs");
  ASSERT_EQ(j.at("digests").size(), 5u + 2u);
  for (const auto& row : j.at("digests")) {
    EXPECT_EQ(row.at("equal_to_reference"), true);
    EXPECT_EQ(row.at("values"), row.at("ranks"));
    EXPECT_EQ(row.at("elements"), 43010);  // 2 x 5 x 11 divides it
  }
}

TEST(HostScale, WhatCommunicatorsAndCallsTake) {
  const nlohmann::json j = results_of(kHostScale + "--ranks 0 --counts --costs 3 --runs 1");
  EXPECT_EQ(j.at("passed"), true);
  ASSERT_EQ(j.at("costs").size(), 1u);
  for (const char* kind : {"detccl", "native"}) {
    const nlohmann::json& row = j.at("costs").at(0).at(kind);
    for (const char* figure : {"creation_seconds", "creation_processor_seconds", "call_us", "memory_kb"})
      EXPECT_GT(row.at(figure).at("median"), 0.0) << kind << ' ' << figure;
    EXPECT_GT(row.at("memory_kb").at("median"), row.at("memory_before_kb").at("median")) << kind;
  }
}

TEST(HostScale, SweepsOfEverySchedule) {
  const nlohmann::json j = results_of(kHostScale + "--ranks 3 --largest 1K --counts --costs");
  EXPECT_EQ(j.at("passed"), true);
  ASSERT_EQ(j.at("sweeps").size(), 2u);
  for (const auto& sweep : j.at("sweeps"))
    EXPECT_EQ(sweep.at("document").at("results").size(), 4u);
  EXPECT_EQ(j.at("digests").size(), 0u);
}

}  // namespace
