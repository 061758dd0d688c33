// SPDX-License-Identifier: Apache-2.0
// The script for several GPUs, on host memory.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::Outcome;
using detccl::test::run;

std::vector<nlohmann::json> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string kMultiGpu =
    std::string(MULTI_GPU_SCRIPT) + " --host --build " DETCCL_TEST_BUILD " --only sweeps ";

TEST(MultiGpu, SweepsHostMemory) {
  const Folder folder;
  const Outcome outcome =
      run(std::string(MULTI_GPU_SCRIPT) +
          " --host --build " DETCCL_TEST_BUILD
          " --only 'sweeps*' --only 'two *' --only 'more *' --budget 100 --commit abc --out " +
          folder.file("m"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::size_t passed = 0;
  for (const nlohmann::json& line : read_lines(folder.file("m/multi_gpu.jsonl"))) {
    EXPECT_NE(line.at("status"), "fail") << line;
    if (line.at("status") != "pass") continue;
    ++passed;
    EXPECT_EQ(line.at("document").at("commit"), "abc");
    EXPECT_EQ(line.at("document").at("complete"), true);
    for (const nlohmann::json& row : line.at("document").at("results")) {
      EXPECT_EQ(row.at("bits"), "ok");
      EXPECT_TRUE(row.contains("ratio"));
    }
  }
  EXPECT_EQ(passed, 21u) << outcome.output;
  const std::string page = text_of(folder.file("m/multi_gpu.html"));
  for (const char* text : {"<svg", "native=Ring", "Time with DetCCL over native time", "</html>"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST(MultiGpu, KeepsPromisesOnHostMemory) {
  const Folder folder;
  const Outcome outcome = run(std::string(MULTI_GPU_SCRIPT) +
                              " --host --build " DETCCL_TEST_BUILD
                              " --only topology --only ceilings --only promises --budget 100 --out " +
                              folder.file("m"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::map<std::string, std::size_t> passed;
  for (const nlohmann::json& line : read_lines(folder.file("m/multi_gpu.jsonl"))) {
    EXPECT_NE(line.at("status"), "fail") << line;
    if (line.at("status") == "pass") ++passed[line.at("part")];
  }
  EXPECT_EQ(passed["promises"], 5u) << outcome.output;
  EXPECT_NE(text_of(folder.file("m/multi_gpu.html")).find("2 ranks: other placement = default"),
            std::string::npos);
}

TEST(MultiGpu, ListsWhatDoesNotFit) {
  const Folder folder;
  const Outcome outcome = run(kMultiGpu + "--budget 8 --out " + folder.file("m"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::vector<nlohmann::json> lines = read_lines(folder.file("m/multi_gpu.jsonl"));
  ASSERT_EQ(lines.size(), 3u) << outcome.output;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("status"), "skip");
    EXPECT_NE(lines[i].at("detail").get<std::string>().find("s left"), std::string::npos) << lines[i];
  }
}

TEST(MultiGpu, APartThatFailsLeavesTheOthers) {
  const Folder folder;
  const std::string bin = folder.file("bin");
  ASSERT_EQ(run("bash -c 'mkdir " + bin + " && ln -s /bin/false " + bin + "/all_reduce_perf && ln -s " +
                DETCCL_TEST_BIN "/detccl " DETCCL_TEST_BIN "/reduce_scatter_perf " + bin + " && ln -s " +
                DETCCL_TEST_BUILD "/lib " + folder.file("lib") + "'")
                .exit_code,
            0);
  const Outcome outcome = run(std::string(MULTI_GPU_SCRIPT) + " --host --build " + folder.file("") +
                              " --only sweeps --budget 60 --out " + folder.file("m"));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  const std::vector<nlohmann::json> lines = read_lines(folder.file("m/multi_gpu.jsonl"));
  ASSERT_EQ(lines.size(), 3u) << outcome.output;
  EXPECT_EQ(lines[1].at("status"), "fail") << lines[1];
  EXPECT_EQ(lines[2].at("status"), "pass") << lines[2];
}

TEST(MultiGpu, ShowsItsCommandsBefore) {
  const Outcome outcome =
      run(std::string(MULTI_GPU_SCRIPT) + " --dry-run --gpus 4 --build " DETCCL_TEST_BUILD);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* text : {"all_reduce_perf --ranks 4 -b 1K", "-o sum --schedule auto,peer",
                           "promises --ranks 4", "CUDA_VISIBLE_DEVICES=0,1,2,3", "torch_rank.py",
                           "DETCCL_PEER_BLOCKS=32", "--native-algo Tree", "# expected, seconds"})
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\n" << outcome.output;
}

}  // namespace
