// SPDX-License-Identifier: Apache-2.0
// all_reduce_perf as a user starts it: exit codes, results, the JSON file.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::mpirun;
using detccl::test::Outcome;
using detccl::test::run;

const std::string kPerf = ALL_REDUCE_PERF_PROGRAM " ";

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

TEST(Perf, UsageErrorsExitWithTwoAndSayWhy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "--host"},
      {"--host -z 1", "-z"},
      {"--host -g 2", "-g"},
      {"--host -d fp99", "bfloat16"},
      {"--host -o mean", "sum|prod"},
      {"--host -b 2T", "no size"},
      {"--host -b 64M", "-b is larger than -e"},
      {"--host -n 0", "--iters"},
      {"--host --contract star", "tree|linear"},
      {"--host --against gloo", "mpi|native"},
      {"--host --against mpi -d half", "MPI has no type"},
      {"--host --against mpi -o avg", "MPI has no operation"},
  };
  for (const auto& [options, reason] : cases) {
    const Outcome outcome = run(kPerf + options);
    EXPECT_EQ(outcome.exit_code, 2) << options << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << options << "\n" << outcome.output;
  }
  EXPECT_EQ(run(kPerf + "--help").exit_code, 0);
}

TEST(Perf, AWorldOfOneUnderALauncherOfMoreIsAnError) {
  const Outcome outcome = run("env SLURM_NTASKS=4 " + kPerf + "--host -b 1K -e 1K");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("4 processes"), std::string::npos) << outcome.output;
}

TEST(Perf, SizesFollowTheFlagsOfNcclTests) {
  const Folder folder;
  const auto bytes = [&](const std::string& flags) {
    const Outcome outcome =
        run("env NCCL_SOCKET_IFNAME=lo " + kPerf + "--host -n 1 " + flags + " --json " + folder.file("j"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    std::vector<std::uint64_t> list;
    const nlohmann::json document = read_json(folder.file("j"));
    for (const auto& row : document.at("results"))
      list.push_back(row.at("bytes"));
    return list;
  };
  using List = std::vector<std::uint64_t>;
  EXPECT_EQ(bytes("-b 1K -e 16K -f 4"), (List{1024, 4096, 16384}));
  EXPECT_EQ(bytes("-b 1k -e 3K -i 1K"), (List{1024, 2048, 3072}));
  EXPECT_EQ(bytes("-b 10 -e 10 -d double"), (List{8}));  // whole elements
  EXPECT_EQ(bytes("-b 0 -e 0"), (List{0}));
}

void expect_spread(const nlohmann::json& spread) {
  EXPECT_GT(spread.at("min").get<double>(), 0.0);
  EXPECT_LE(spread.at("min").get<double>(), spread.at("median").get<double>());
  EXPECT_LE(spread.at("median").get<double>(), spread.at("max").get<double>());
}

TEST(Perf, TheJsonFileHoldsWhatWasMeasuredAndNoNames) {
  const Folder folder;
  const Outcome outcome =
      run(mpirun(3) + kPerf + "--host -b 8K -e 64K -f 8 -n 4 -c 2 --against mpi --commit abc --json " +
          folder.file("j"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  EXPECT_EQ(j.at("format"), "detccl-perf-1");
  EXPECT_EQ(j.at("collective"), "all_reduce");
  EXPECT_EQ(j.at("commit"), "abc");
  EXPECT_EQ(j.at("ranks"), 3);
  EXPECT_EQ(j.at("contract"), "tree");
  EXPECT_EQ(j.at("against"), "mpi");
  EXPECT_EQ(j.at("passed"), true);
  for (const char* version : {"detccl", "nccl_api", "open_mpi", "ucx"}) {
    EXPECT_TRUE(
        std::isdigit(static_cast<unsigned char>(j.at("versions").at(version).get<std::string>().at(0))))
        << version;
  }
  ASSERT_EQ(j.at("results").size(), 2u);
  for (const auto& row : j.at("results")) {
    for (const char* name : {"time_us", "peer_time_us", "ratio"})
      expect_spread(row.at(name));
    EXPECT_EQ(row.at("wrong"), 0);
    EXPECT_EQ(row.at("ranks_agree"), true);
  }
  EXPECT_EQ(j.at("results")[1].at("checked"), 2u * 3u * 8192u);
  EXPECT_EQ(j.dump().find("\"/"), std::string::npos) << j.dump();  // no path
}

TEST(Perf, OtherTypesOperationsContractsAndPeers) {
  EXPECT_EQ(
      run(mpirun(3) + kPerf + "--host -b 20K -e 20K -n 2 -d bfloat16 -o avg --contract linear --in-place")
          .exit_code,
      0);
  EXPECT_EQ(
      run(mpirun(3) + kPerf + "--host -b 20K -e 20K -n 2 -d half --contract tree:native --schedule tree")
          .exit_code,
      0);
  EXPECT_EQ(run(mpirun(3) + kPerf + "--host -b 20K -e 20K -n 2 --against native").exit_code, 0);
}

TEST(Perf, WrongBitsExitWithOne) {
  // Passed through to the library underneath, which adds in an order of its own.
  const Outcome outcome = run(mpirun(4, "DETCCL_DISABLE=1") + kPerf + "--host -b 64K -e 64K -n 1");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("FAILED"), std::string::npos) << outcome.output;
}

}  // namespace
