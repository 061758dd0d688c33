// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/hello.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace detccl::nccl_api {
namespace {

std::vector<Hello> hellos(std::size_t ranks) {
  return std::vector<Hello>(ranks, make_hello({}, 100, ""));
}

TEST(Hello, AgreementIsNothingToTell) {
  EXPECT_EQ(find_disagreement(hellos(1)), std::nullopt);
  EXPECT_EQ(find_disagreement(hellos(5)), std::nullopt);
  EXPECT_EQ(find_problem(hellos(5)), std::nullopt);
}

TEST(Hello, DisagreementNamesTheRanks) {
  std::vector<Hello> all = hellos(6);
  Configuration other;
  other.contract = *contract::parse_contract("linear");
  all[1] = all[2] = all[5] = make_hello(other, 100, "");
  EXPECT_EQ(find_disagreement(all),
            "ranks disagree on DETCCL_CONTRACT: linear on ranks 1-2, 5; tree on ranks 0, 3-4");
}

TEST(Hello, EverySettingCounts) {
  Configuration schedule, chunk, prove, blocks;
  schedule.schedule = plan::Schedule::gather;
  chunk.chunk_bytes = 4096;
  prove.prove = true;
  blocks.peer_blocks = 0;
  const auto line = [](const Configuration& c) {
    std::vector<Hello> all = hellos(2);
    all[1] = make_hello(c, 100, "");
    return find_disagreement(all).value_or("");
  };
  EXPECT_EQ(line(schedule), "ranks disagree on DETCCL_SCHEDULE: auto on rank 0; gather on rank 1");
  EXPECT_EQ(line(chunk), "ranks disagree on DETCCL_CHUNK: 4096 on rank 1; auto on rank 0");
  EXPECT_EQ(line(prove), "ranks disagree on DETCCL_PROVE: 0 on rank 0; 1 on rank 1");
  EXPECT_EQ(line(blocks), "ranks disagree on DETCCL_PEER_BLOCKS: 0 on rank 1; auto on rank 0");
}

TEST(Hello, TheFiguresOfTuningFilesHaveToAgree) {
  const auto with = [](const char* name) {
    Configuration c;
    c.tuning_file = "/anywhere/on/this/host";
    c.tuning = std::make_shared<const plan::tuner::Coefficients>(plan::tuner::built_in(name));
    return make_hello(c, 100, "");
  };
  std::vector<Hello> all = {with("h200"), with("h200")};
  EXPECT_EQ(find_disagreement(all), std::nullopt);
  all.push_back(with("gb200"));
  const std::string two = find_disagreement(all).value_or("");
  EXPECT_NE(two.find("ranks disagree on the figures of DETCCL_TUNING: "), std::string::npos) << two;
  EXPECT_NE(two.find(" on ranks 0-1"), std::string::npos) << two;
  all[2] = make_hello({}, 100, "");
  EXPECT_NE(find_disagreement(all).value_or("").find("none on rank 2"), std::string::npos);
}

TEST(Hello, AForkedProcessIsAnotherOne) {
  const std::uint64_t here = process_number();
  EXPECT_EQ(process_number(), here);
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t there = process_number();
    _exit(write(ends[1], &there, sizeof there) == sizeof there ? 0 : 1);
  }
  ASSERT_GT(child, 0);
  std::uint64_t there = here;
  EXPECT_EQ(::read(ends[0], &there, sizeof there), static_cast<ssize_t>(sizeof there));
  EXPECT_NE(there, here);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  close(ends[1]);
}

TEST(Hello, StrangersAreFound) {
  std::vector<Hello> all = hellos(3);
  all[2].magic[7] = '9';
  EXPECT_EQ(find_disagreement(all), "another version of DetCCL, or none, on ranks 2");
}

TEST(Hello, AProblemIsToldByItsRank) {
  std::vector<Hello> all = hellos(3);
  all[1] = make_hello({}, 0, "UCX cannot be loaded");
  EXPECT_EQ(find_problem(all), "rank 1: UCX cannot be loaded");
  all[1] = make_hello({}, 0, std::string(1000, 'x'));
  EXPECT_EQ(find_problem(all)->size(), std::string("rank 1: ").size() + 255) << "cut to what has room";
}

}  // namespace
}  // namespace detccl::nccl_api
