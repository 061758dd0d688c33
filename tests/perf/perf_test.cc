// SPDX-License-Identifier: Apache-2.0
// The sweep programs as a user starts them: exit codes, results, the JSON file.
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
const std::string kAll[] = {kPerf, REDUCE_SCATTER_PERF_PROGRAM " ", REDUCE_PERF_PROGRAM " "};
const std::string kMovers[] = {ALL_GATHER_PERF_PROGRAM " ", ALLTOALL_PERF_PROGRAM " ",
                               BROADCAST_PERF_PROGRAM " ", SENDRECV_PERF_PROGRAM " "};
const std::string kLoopback = "env NCCL_SOCKET_IFNAME=lo ";

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

TEST(Perf, UsageErrorsExitWithTwoAndSayWhy) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--against mpi", "--host"},
      {"--host --graph 3", "GPUs"},
      {"--host --host-time", "GPUs"},
      {"--host --ranks 2 --against mpi", "mpirun"},
      {"--host -d float,fp99", "fp99"},
      {"--host --bench ring", "auto|socket|p2p|none"},
      {"--host -r 1", "-r"},
      {"--host -z 1", "-z"},
      {"--host -g 2", "-g"},
      {"--host -d fp99", "bfloat16"},
      {"--host -o mean", "sum|prod"},
      {"--host -b 2T", "no size"},
      {"--host -b 64M", "-b is larger than -e"},
      {"--host -n 0", "--iters"},
      {"--host --contract star", "tree|linear"},
      {"--host --against gloo", "mpi|native|none"},
      {"--host --against mpi -d half", "MPI has no type"},
      {"--host --against mpi -o avg", "MPI has no operation"},
  };
  for (const auto& [options, reason] : cases) {
    const Outcome outcome = run(kPerf + options);
    EXPECT_EQ(outcome.exit_code, 2) << options << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << options << "\n" << outcome.output;
  }
  EXPECT_EQ(run(kPerf + "--help").exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> more = {
      {kPerf + "--inject 1:0:0", "not 0"},
      {kPerf + "--inject 1:0", "RANK:CALL:ULPS"},
      {kPerf + "-c 2 --inject 1:2:1", "no such call"},
      {kPerf + "--bits most", "all|none"},
      {kMovers[0] + "-o sum", "-o"},
      {kMovers[0] + "--inject 1:0:1", "--inject"},
      {kMovers[0] + "--against mpi", "reductions"},
      {kMovers[1] + "--in-place", "two buffers"},
      {kMovers[3] + "--in-place", "two buffers"},
      {kMovers[3] + "-r 0", "-r"},
  };
  for (const auto& [command, reason] : more) {
    const Outcome outcome = run(command + " --host");
    EXPECT_EQ(outcome.exit_code, 2) << command << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << command << "\n" << outcome.output;
  }
}

TEST(Perf, WhatIsNotThereExitsWithTwoAndSaysSo) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"env CUDA_VISIBLE_DEVICES= " + kPerf + "--ranks 2 -b 1K -e 1K", "--host"},  // no GPU
      {kPerf + "--host --ranks 2 -b 1K -e 1K --nccl /nowhere.so", "/nowhere.so"},
      {kPerf + "--host --ranks 2 -b 1K -e 1K --detccl libc.so.6", "no NCCL"},
      {kAll[2] + "--host --ranks 2 -b 1K -e 1K -r 2", "0 to 1"},
      {kPerf + "--host --ranks 2 -b 1K -e 1K --inject 2:0:1", "0 to 1"},
      {kAll[2] + "--host --ranks 2 -b 1K -e 1K -r 1 --inject 0:0:1", "root"},
  };
  for (const auto& [command, reason] : cases) {
    const Outcome outcome = run(kLoopback + command);
    EXPECT_EQ(outcome.exit_code, 2) << command << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(reason), std::string::npos) << command << "\n" << outcome.output;
  }
}

TEST(Perf, NoProgramIsLinkedWithAnNccl) {
  for (const std::string& program : kAll) {
    const Outcome outcome = run("ldd " + program);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    for (const char* library : {"libnccl", "libdetccl", "libcudart"})
      EXPECT_EQ(outcome.output.find(library), std::string::npos) << outcome.output;
  }
}

TEST(Perf, AWorldOfOneUnderALauncherOfMoreIsAnError) {
  const Outcome outcome = run("env SLURM_NTASKS=4 " + kPerf + "--host -b 1K -e 1K");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("4 processes"), std::string::npos) << outcome.output;
}

TEST(Perf, SizesFollowTheFlagsOfNcclTests) {
  const Folder folder;
  const auto bytes = [&](const std::string& flags) {
    const Outcome outcome = run(kLoopback + kPerf + "--host -n 1 " + flags + " --json " + folder.file("j"));
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
  EXPECT_LE(spread.at("low").get<double>(), spread.at("median").get<double>());
  EXPECT_LE(spread.at("median").get<double>(), spread.at("high").get<double>());
}

TEST(Perf, TheJsonFileHoldsWhatWasMeasuredAndNoNames) {
  const Folder folder;
  const Outcome outcome =
      run(mpirun(3) + kPerf + "--host -b 8K -e 64K -f 8 -n 4 -c 2 --against mpi --commit abc --json " +
          folder.file("j"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  EXPECT_EQ(j.at("format"), "detccl-perf-2");
  EXPECT_EQ(j.at("collective"), "all_reduce");
  EXPECT_EQ(j.at("commit"), "abc");
  EXPECT_EQ(j.at("ranks"), 3);
  EXPECT_EQ(j.at("contract"), "tree");
  EXPECT_EQ(j.at("against"), "mpi");
  EXPECT_EQ(j.at("passed"), true);
  for (const char* version : {"detccl", "nccl", "open_mpi", "ucx"}) {
    EXPECT_TRUE(
        std::isdigit(static_cast<unsigned char>(j.at("versions").at(version).get<std::string>().at(0))))
        << version;
  }
  ASSERT_EQ(j.at("results").size(), 2u);
  for (const auto& row : j.at("results")) {
    for (const char* name : {"time_us", "peer_time_us", "ratio"})
      expect_spread(row.at(name));
    EXPECT_EQ(row.at("datatype"), "float");
    EXPECT_EQ(row.at("schedule"), "auto");
    const std::string by = row.at("carried_out_by");
    EXPECT_TRUE(by == "gather" || by == "direct") << by;
    EXPECT_EQ(row.at("bits"), "ok");
    EXPECT_EQ(row.at("wrong_ranks"), 0);
    EXPECT_EQ(row.at("checked"), 2 * 3);
    EXPECT_EQ(row.at("ranks_agree"), true);
  }
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

TEST(Perf, EachCollectiveUnderMpirunBesideMpi) {
  for (const std::string& program : kAll)
    EXPECT_EQ(run(mpirun(3) + program + "--host -b 6000 -e 6000 -n 2 --against mpi").exit_code, 0) << program;
}

TEST(Perf, StartsItsRanksItselfForEverySchedule) {
  for (const std::string& program : kAll) {
    const Folder folder;
    const Outcome outcome = run(kLoopback + program +
                                "--host --ranks 3 -b 6000 -e 6000 -n 2 -d float,bfloat16"
                                " --schedule all --against native --json " +
                                folder.file("j"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    const nlohmann::json j = read_json(folder.file("j"));
    EXPECT_EQ(j.at("ranks"), 3);
    EXPECT_EQ(j.at("complete"), true);
    std::vector<std::string> rows;
    for (const auto& row : j.at("results")) {
      rows.push_back(row.at("schedule").get<std::string>() + " " + row.at("datatype").get<std::string>());
      EXPECT_EQ(row.at("bits"), "ok");
      expect_spread(row.at("ratio"));
    }
    EXPECT_EQ(rows,
              (std::vector<std::string>{"auto float", "auto bfloat16", "gather float", "gather bfloat16",
                                        "direct float", "direct bfloat16", "tree float", "tree bfloat16",
                                        "halving float", "halving bfloat16"}));
  }
}

TEST(Perf, SeveralSchedulesUnderMpirun) {
  const Folder folder;
  const Outcome outcome = run(mpirun(3) + kAll[1] +
                              "--host -b 6000 -e 6000 -n 2 --contract linear --in-place"
                              " --schedule ring,direct --json " +
                              folder.file("j"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  ASSERT_EQ(j.at("results").size(), 2u);
  EXPECT_EQ(j.at("results")[0].at("bytes"), 6000u / 3 / 16 * 16 * 3);  // parts of whole 16 bytes
  EXPECT_EQ(j.at("results")[1].at("schedule"), "direct");
}

TEST(Perf, AListOfSchedulesMayHaveCommasInParentheses) {
  const Folder folder;
  const Outcome outcome = run(kLoopback + kPerf +
                              "--host --ranks 4 -b 2K -e 2K -n 1"
                              " --schedule 'tree,hier(direct,halving)/2,direct' --json " +
                              folder.file("j"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  EXPECT_EQ(j.at("schedules"), (nlohmann::json{"tree", "hier(direct,halving)/2", "direct"}));
}

TEST(Perf, AScheduleThatCannotBeLeavesTheOthers) {
  const Folder folder;
  const Outcome outcome = run(kLoopback + kPerf +
                              "--host --ranks 2 -b 1K -e 2K -f 2 -n 2 --schedule ring,tree"
                              " --json " +
                              folder.file("j"));
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  EXPECT_EQ(j.at("results").size(), 2u);
  ASSERT_EQ(j.at("failures").size(), 1u);
  EXPECT_EQ(j.at("failures")[0].at("schedule"), "ring");
  EXPECT_EQ(j.at("passed"), false);
}

TEST(Perf, ARankThatDiesLeavesTheOtherSizes) {
  const Folder folder;
  const std::string json = folder.file("j");
  // Rank 1 is killed as soon as the sweep is under way. (A command line's words end with zeros.)
  const std::string killer = "until grep -q collective " + json +
                             " 2>/dev/null; do sleep 0.05; done; until pids=$(LC_ALL=C grep -la \"" + json +
                             ".--child.[0-9]*,1,2,\" /proc/[0-9]*/cmdline 2>/dev/null); do :; done;"
                             " for p in $pids; do p=${p%/cmdline}; kill -9 ${p#/proc/}; done";
  const Outcome outcome =
      run("bash -c '(" + killer + ") & " + kLoopback + kPerf +
          "--host --ranks 2 -b 32K -e 128K -f 2 -n 1000 --json " + json + "; rc=$?; wait; exit $rc'");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  const nlohmann::json j = read_json(json);
  ASSERT_EQ(j.at("results").size(), 2u) << outcome.output;
  // Of one size: what killed rank 1, and, if rank 0 was there to tell, that it noticed.
  ASSERT_GE(j.at("failures").size(), 1u) << outcome.output;
  for (const auto& failure : j.at("failures")) {
    EXPECT_EQ(failure.at("bytes"), j.at("failures")[0].at("bytes")) << outcome.output;
    for (const auto& row : j.at("results"))
      EXPECT_NE(row.at("bytes"), failure.at("bytes"));
  }
}

TEST(Perf, WrongBitsExitWithOne) {
  // Passed through to the library underneath, which adds in an order of its own.
  for (const std::string& program : kAll) {
    const Outcome outcome = run(mpirun(4, "DETCCL_DISABLE=1") + program + "--host -b 64K -e 64K -n 1");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("WRONG"), std::string::npos) << outcome.output;
  }
}

TEST(Perf, MoversBesideTheNativeOnes) {
  struct Mover {
    std::string options, name;
    double factor;
    int root;
  };
  const std::vector<std::pair<std::string, Mover>> movers = {
      {kMovers[0], {"", "all_gather", 2.0 / 3, -1}},
      {kMovers[0], {"--in-place ", "all_gather", 2.0 / 3, -1}},
      {kMovers[1], {"", "alltoall", 2.0 / 3, -1}},
      {kMovers[2], {"-r 1 ", "broadcast", 1.0, 1}},
      {kMovers[2], {"--in-place ", "broadcast", 1.0, 0}},
      {kMovers[3], {"", "sendrecv", 1.0, -1}},
  };
  for (const auto& [program, mover] : movers) {
    const Folder folder;
    const Outcome outcome =
        run(kLoopback + program + mover.options +
            "--host --ranks 3 -b 0 -e 60000 -i 30000 -n 2 -c 2 -d half,double --against native"
            " --json " +
            folder.file("j"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    const nlohmann::json j = read_json(folder.file("j"));
    EXPECT_EQ(j.at("collective"), mover.name);
    ASSERT_EQ(j.at("results").size(), 6u);
    for (const auto& row : j.at("results")) {
      EXPECT_EQ(row.at("op"), "none");
      EXPECT_EQ(row.at("root"), mover.root);
      EXPECT_EQ(row.at("bits"), "ok");
      EXPECT_EQ(row.at("checked"), 6);
      EXPECT_FALSE(row.contains("split"));
      EXPECT_NEAR(row.at("busbw_gb_s").get<double>(), row.at("algbw_gb_s").get<double>() * mover.factor,
                  2e-3);
      expect_spread(row.at("ratio"));
    }
  }
}

TEST(Perf, AFaultPutInIsSeenEveryTime) {
  for (const std::string& program : kAll) {
    const Folder folder;
    const std::string rank = program == kAll[2] ? "0" : "2";
    const Outcome outcome = run(kLoopback + program +
                                "--host --ranks 3 -b 240 -e 24000 -i 240 -n 1 -c 2 -d bfloat16 --bits none"
                                " --json " +
                                folder.file("j") + " --inject " + rank + ":1:1");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    const nlohmann::json j = read_json(folder.file("j"));
    ASSERT_EQ(j.at("results").size(), 100u);
    EXPECT_EQ(j.at("injected"), (nlohmann::json{{"rank", std::stoi(rank)}, {"call", 1}, {"ulps", 1}}));
    for (const auto& row : j.at("results")) {
      EXPECT_EQ(row.at("bits"), "WRONG") << row;
      EXPECT_EQ(row.at("wrong_ranks"), 1) << row;
    }
  }
}

TEST(Perf, OtherSplitsAndCommunicatorsGiveTheSameBits) {
  for (const std::string& program : kAll) {
    for (const std::string options : {"", " --in-place"}) {
      const Folder folder;
      const std::string command =
          program + "--host -b 48 -e 60K -f 35 -n 1 -d half,float -o sum,avg --bits all" + options;
      const Outcome outcome = run(kLoopback + command + " --ranks 3 --json " + folder.file("j"));
      EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
      const nlohmann::json j = read_json(folder.file("j"));
      for (const auto& row : j.at("results")) {
        EXPECT_EQ(row.at("split"), "ok") << row;
        EXPECT_EQ(row.at("communicator"), "ok") << row;
      }
    }
  }
  // The ring of the library underneath adds in another order where the pieces are others.
  const Outcome native =
      run(mpirun(4, "DETCCL_DISABLE=1") + kPerf + "--host -b 64K -e 64K -n 1 --bits split --json /dev/null");
  EXPECT_EQ(native.exit_code, 1) << native.output;
  EXPECT_NE(native.output.find("WRONG  WRONG"), std::string::npos) << native.output;
}

TEST(Perf, TheHeaderTellsSettings) {
  const Folder folder;
  const Outcome outcome = run("env NCCL_ALGO=Ring DETCCL_CHUNK=64K DETCCL_LOG=error " + kLoopback + kPerf +
                              "--host --ranks 2 -b 1K -e 1K -n 1 --schedule auto,tree --native-algo tree"
                              " --against native --json " +
                              folder.file("j"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("j"));
  EXPECT_EQ(j.at("schedules"), (nlohmann::json{"auto", "tree"}));
  EXPECT_EQ(j.at("native_algo"), "tree");
  EXPECT_EQ(j.at("environment").at("NCCL_ALGO"), "Ring");
  EXPECT_EQ(j.at("environment").at("DETCCL_CHUNK"), "64K");
  EXPECT_FALSE(j.at("environment").contains("NCCL_SOCKET_IFNAME"));
  EXPECT_FALSE(j.at("environment").contains("DETCCL_NCCL_LIBRARY"));
}

TEST(Perf, TheTableOfAllSchedules) {
  const Folder folder;
  const Outcome outcome =
      run(kLoopback + GPU_TABLE_SCRIPT " --host --quick -e 16K --ranks 2 --types float --budget 50 --bin " +
          DETCCL_TEST_BIN " --out " + folder.file("t"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json j = read_json(folder.file("t/table.json"));
  ASSERT_EQ(j.at("runs").size(), 2u);
  for (const auto& r : j.at("runs"))
    EXPECT_EQ(r.at("document").at("results").size(), 5u * 3u);
  EXPECT_TRUE(j.at("not_run").empty());
  std::ifstream markdown(folder.file("t/table.md"));
  const std::string text((std::istreambuf_iterator<char>(markdown)), {});
  EXPECT_NE(text.find("| 2 | tree | "), std::string::npos) << text;
}

}  // namespace
