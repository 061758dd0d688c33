// SPDX-License-Identifier: Apache-2.0
// The script for several GPUs, on host memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
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

TEST(MultiGpu, ResumesAnEarlierRun) {
  const Folder folder;
  const std::string topology = std::string(MULTI_GPU_SCRIPT) +
                               " --host --build " DETCCL_TEST_BUILD " --only topology --budget 60 --out " +
                               folder.file("m");
  EXPECT_EQ(run(topology + " --resume").exit_code, 2);
  ASSERT_EQ(run(topology).exit_code, 0);
  const std::vector<nlohmann::json> first = read_lines(folder.file("m/multi_gpu.jsonl"));
  const Outcome outcome = run(kMultiGpu + " --only sweeps --budget 60 --resume --out " + folder.file("m"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::vector<nlohmann::json> both = read_lines(folder.file("m/multi_gpu.jsonl"));
  ASSERT_EQ(both.size(), first.size() + 3) << outcome.output;
  EXPECT_TRUE(std::equal(first.begin(), first.end(), both.begin()));
  const std::string page = text_of(folder.file("m/multi_gpu.html"));
  for (const nlohmann::json& line : both)
    EXPECT_NE(page.find("<td>" + line.at("part").get<std::string>() + "</td>"), std::string::npos) << line;
  // The sweeps, too, are read again.
  ASSERT_EQ(run(topology + " --resume").exit_code, 0);
  EXPECT_NE(text_of(folder.file("m/multi_gpu.html")).find("<svg"), std::string::npos);
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
  // Mended and resumed: what had failed is not told any more, and the half line of one that was killed goes.
  ASSERT_EQ(run("ln -sf " DETCCL_TEST_BIN "/all_reduce_perf " + bin).exit_code, 0);
  std::ofstream(folder.file("m/multi_gpu.jsonl"), std::ios::app) << R"({"part": "swe)";
  const Outcome again = run(std::string(MULTI_GPU_SCRIPT) + " --host --build " + folder.file("") +
                            " --only sweeps --budget 60 --resume --out " + folder.file("m"));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(read_lines(folder.file("m/multi_gpu.jsonl")).size(), 6u);
  EXPECT_EQ(text_of(folder.file("m/multi_gpu.html")).find("class=bad"), std::string::npos);
  std::ofstream(folder.file("m/multi_gpu.jsonl"), std::ios::app) << "[]\n";
  const Outcome wrong = run(std::string(MULTI_GPU_SCRIPT) + " --host --resume --out " + folder.file("m"));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.output.find("multi_gpu.jsonl, line 7, is none of its records"), std::string::npos)
      << wrong.output;
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

/// multi_gpu.jsonl as if the simulator, with the parameters in `file`, had been measured.
void measure_simulator(const Folder& folder, const std::string& parameters) {
  std::ofstream(folder.file("p.json")) << parameters;
  const Outcome outcome =
      run(DETCCL_TEST_BIN
          "/detccl-simulate --platform nvswitch --gpus 2 --collective all_reduce --type bfloat16"
          " --schedule gather --schedule direct --schedule halving --sizes 4K --sizes 1M"
          " --sizes 4M --sizes 16M --parameters " +
          folder.file("p.json") + " --json " + folder.file("s.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  nlohmann::json results;
  const nlohmann::json simulated = nlohmann::json::parse(text_of(folder.file("s.json")));
  for (const nlohmann::json& row : simulated.at("rows")) {
    for (const auto& [schedule, prediction] : row.at("schedules").items()) {
      results.push_back({{"bytes", row.at("bytes")},
                         {"datatype", "bfloat16"},
                         {"op", "avg"},
                         {"schedule", schedule},
                         {"bits", "ok"},
                         {"time_us", {{"median", prediction.at("us")}}},
                         {"peer_time_us", {{"median", row.at("native").at("us")}}}});
    }
  }
  const nlohmann::json header = {{"part", "run"}, {"name", "header"}, {"status", "info"},
                                 {"seconds", 0},  {"detail", "2 x"},  {"ranks", 2}};
  const nlohmann::json sweep = {
      {"part", "sweeps"},
      {"name", "a"},
      {"status", "pass"},
      {"seconds", 0},
      {"detail", ""},
      {"settings", nlohmann::json::object()},
      {"document", {{"collective", "all_reduce"}, {"ranks", 2}, {"contract", "tree"}, {"results", results}}}};
  std::ofstream(folder.file("multi_gpu.jsonl")) << header << "\n" << sweep << "\n";
}

TEST(MultiGpu, FitFindsTheSimulatorsOwnCoefficients) {
  if (!std::filesystem::exists(DETCCL_TEST_BIN "/detccl-simulate")) GTEST_SKIP() << "built without SimGrid";
  const Folder folder;
  measure_simulator(folder, R"({"nvlink": {"gb_s": 90}, "launch_us": 25, "fold_launch_us": 8})");
  const Outcome outcome = run(FIT_SCRIPT " --build " DETCCL_TEST_BUILD " " + folder.file("multi_gpu.jsonl"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::vector<nlohmann::json> lines = read_lines(folder.file("multi_gpu.jsonl"));
  ASSERT_EQ(lines.size(), 3u);
  std::map<std::string, double> found;
  for (const nlohmann::json& row : lines[2].at("coefficients"))
    found[row.at("key")] = row.at("value");
  EXPECT_NEAR(found["nvlink.gb_s"], 90, 2);
  EXPECT_NEAR(found["launch_us"], 25, 1);
  EXPECT_NEAR(found["fold_launch_us"], 8, 1);
  EXPECT_EQ(lines[2].at("fitted_points"), 6);
  EXPECT_EQ(lines[2].at("other_points"), 6);
  EXPECT_LT(lines[2].at("most"), 0.05);
  EXPECT_GT(lines[2].at("unfitted_most"), 0.3);
  EXPECT_NE(text_of(folder.file("multi_gpu.html")).find("The simulator's coefficients, fitted"),
            std::string::npos);
}

TEST(MultiGpu, RatiosOfNeighbouringBlocksDoNotDrift) {
  const Outcome outcome =
      run("env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname " + std::string(MULTI_GPU_SCRIPT) +
          ") python3 -c 'from several_gpus import paired\n"
          "native = [100 + 5 * i for i in range(21)]\n"  // twice as slow at the end
          "r = paired.ratio([1.02 * (t + 2.5) for t in native[:-1]], native)\n"
          "print(r[\"blocks\"], *(format(r[k], \".4f\") for k in (\"low\", \"median\", \"high\")))'");
  EXPECT_EQ(outcome.output, "20 1.0200 1.0200 1.0200\n");
}

}  // namespace
