// SPDX-License-Identifier: Apache-2.0
// `detccl overhead` on summaries of jobs that were made up.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "made_up_job.h"
#include "steps.h"
#include "summary.h"
#include "support/command.h"

namespace detccl::test {
namespace {

using nlohmann::json;
using profile::Moment;
using profile::Operation;
using profiler::Communicator;

TEST(Overhead, AgainstABaseline) {
  const Folder folder;
  const std::string ours = write_job(folder, "ours", {.ours = 1.3});
  const std::string native = write_job(folder, "native", {.native = true, .number = 0x2000, .seed = 2});
  const auto [outcome, document] = overhead(folder, ours + " --baseline " + native);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const json& c = document.at("communicators").at(0);
  EXPECT_EQ(c.at("ranks"), 8);
  EXPECT_EQ(c.at("summaries"), 8);
  ASSERT_EQ(c.at("operations").size(), 3u);
  for (const json& row : c.at("operations")) {
    EXPECT_EQ(row.at("calls"), 40);
    EXPECT_EQ(row.at("clock"), "gpu");
    EXPECT_TRUE(row.at("deterministic"));
    EXPECT_NEAR(row.at("overhead").at("ratio").get<double>(), 0.3, 0.01) << row;
    EXPECT_GT(row.at("overhead").at("uncertainty"), 0.0);
    EXPECT_LT(row.at("overhead").at("uncertainty"), 0.02);
  }
  EXPECT_TRUE(document.at("late_ranks").empty());
  EXPECT_TRUE(document.at("slow_schedules").empty());
  EXPECT_NE(outcome.output.find("overhead +30"), std::string::npos) << outcome.output;
}

TEST(Overhead, WithoutABaselineItIsUnknown) {
  const Folder folder;
  const auto [outcome, document] = overhead(folder, write_job(folder, "ours", {}));
  ASSERT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("unknown"), std::string::npos);
  EXPECT_FALSE(document.at("communicators").at(0).at("operations").at(0).contains("step_share"));
  EXPECT_FALSE(document.at("communicators").at(0).at("operations").at(0).contains("overhead"));
}

/// Of a rank's operations of 1 ms, `pairs` that took 1.25 times a native one, give or take.
void write_sampled(Communicator& c, int rank, int pairs, const std::string& file,
                   Moment kind = Moment::paired) {
  std::mt19937_64 noise(static_cast<unsigned>(rank) + 1);
  std::uniform_int_distribution<std::uint64_t> natives(500'000, 1'500'000);
  std::uniform_real_distribution<double> jitter(0.97, 1.03);
  Operation operation{.rank = rank,
                      .ranks = 2,
                      .communicator = 0x1000,
                      .function = "AllReduce",
                      .datatype = "ncclFloat32",
                      .schedule = "direct",
                      .count = 1024};
  for (int i = 0; i < pairs; ++i) {
    operation.native = natives(noise);
    const double ours = 1.25 * jitter(noise) * static_cast<double>(operation.native);
    c.observe(operation, kind, static_cast<std::uint64_t>(ours));
  }
  operation.reason = "grouped";
  c.observe(operation, Moment::not_paired, 0);
  std::ofstream(file) << profiler::summary(c);
}

TEST(Overhead, FromTheRunsOwnPairs) {
  for (const int pairs : {5, 300}) {
    const Folder folder;
    for (int rank = 0; rank < 2; ++rank) {
      Communicator c(1, {6, 0x1000, "world", rank, 2, 1});
      our_call(c, {.ranks = 2}, rank, "direct", 1024, 1'000'000);
      write_sampled(c, rank, pairs, folder.file(std::to_string(rank) + ".json"));
    }
    // Above a baseline that says something else.
    const std::string native = write_job(folder, "native", {.ranks = 2, .native = true});
    const auto [outcome, document] =
        overhead(folder, folder.file("0.json") + " " + folder.file("1.json") + " --baseline " + native);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    const json &c = document.at("communicators").at(0), &row = c.at("operations").at(0);
    EXPECT_EQ(c.at("not_paired"), (json{{"grouped", 1}}));
    EXPECT_NE(outcome.output.find("not sampled: 1 (grouped)"), std::string::npos) << outcome.output;
    if (pairs < 6) {  // too few for an answer
      EXPECT_EQ(row.at("native_from"), "baseline");
      continue;
    }
    EXPECT_EQ(row.at("native_from"), "shadow");
    EXPECT_EQ(row.at("pairs"), 300);
    const double ratio = row.at("overhead").at("ratio"), uncertainty = row.at("overhead").at("uncertainty");
    EXPECT_NEAR(ratio, 0.25, 0.02);
    EXPECT_GT(uncertainty, 0.001);
    EXPECT_LT(uncertainty, 0.03);
    EXPECT_NEAR(row.at("native_us").get<double>(), 1000, 200);
    EXPECT_NE(outcome.output.find("(shadow, 300 pairs)"), std::string::npos) << outcome.output;
  }
}

/// A row's source of native time, as the JSON and the text say it.
std::string source_of(const Folder& folder, const std::string& arguments) {
  const auto [outcome, document] = overhead(folder, arguments);
  const json& row = document.at("communicators").at(0).at("operations").at(0);
  const std::string source = row.value("native_from", "unknown");
  EXPECT_NE(outcome.output.find(source == "baseline" || source == "unknown" ? source : "(" + source + ", "),
            std::string::npos)
      << outcome.output;
  return source;
}

TEST(Overhead, FromACalibrationWhereThereIsNothingBetter) {
  const Folder folder;
  const std::string few = folder.file("few.json"), enough = folder.file("enough.json"),
                    sampled = folder.file("sampled.json");
  Communicator c(1, {6, 0x1000, "world", 0, 2, 1});
  our_call(c, {.ranks = 2}, 0, "direct", 1024, 1'000'000);
  write_sampled(c, 0, 5, few, Moment::calibrated);
  write_sampled(c, 0, 15, enough, Moment::calibrated);
  write_sampled(c, 0, 6, sampled);
  const std::string baseline = " --baseline " + write_job(folder, "native", {.ranks = 2, .native = true}),
                    other = " --baseline " + write_job(folder, "other", {.ranks = 4, .native = true});
  EXPECT_EQ(source_of(folder, few), "unknown");
  EXPECT_EQ(source_of(folder, enough), "calibration");
  EXPECT_EQ(source_of(folder, enough + other), "calibration") << "that baseline has no such communicator";
  EXPECT_EQ(source_of(folder, enough + baseline), "baseline");
  EXPECT_EQ(source_of(folder, sampled + baseline), "shadow");
  EXPECT_EQ(source_of(folder, sampled), "shadow");
  const json row = overhead(folder, enough).document.at("communicators").at(0).at("operations").at(0);
  EXPECT_EQ(row.at("pairs"), 20);
  EXPECT_NEAR(row.at("overhead").at("ratio").get<double>(), 0.25, 0.03);
}

TEST(Overhead, ShareOfStepTime) {
  const Folder folder;
  // Both ranks are of this process, which has one set of steps: 100 ms each.
  Communicator zero(1, {6, 0x1000, "world", 0, 2, 1}), one(2, {6, 0x1000, "world", 1, 2, 1});
  const Job job{.ranks = 2};
  our_call(zero, job, 0, "direct", 1024, 1'000'000);  // in no step
  constexpr std::uint64_t kStep = 100'000'000;
  for (std::uint64_t step = 1; step <= 6; ++step) {
    profiler::step_begins(step, step * kStep);
    profiler::step_begins(step, step * kStep + 50);  // another thread says so as well
    for (int call = 0; call < 10; ++call) {
      our_call(zero, job, 0, "direct", 1024, 1'000'000);
      our_call(one, job, 1, "direct", 1024, 1'000'000);
      zero.observe({.function = "Reduce", .datatype = "ncclInt8", .schedule = "direct", .count = 1},
                   Moment::enqueued, 0);  // without times
    }
  }
  write_sampled(zero, 0, 20, folder.file("0.json"));
  write_sampled(one, 1, 20, folder.file("1.json"));
  const auto [outcome, document] = overhead(folder, folder.file("0.json") + " " + folder.file("1.json"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const json &c = document.at("communicators").at(0), &steps = c.at("steps");
  EXPECT_EQ(steps.at("count"), 5);
  EXPECT_NEAR(steps.at("share").get<double>(), 0.1, 1e-6);
  EXPECT_EQ(steps.at("share_complete"), false);
  EXPECT_NEAR(steps.at("share_for_determinism").get<double>(), 0.02, 0.002);
  for (const json& row : c.at("operations")) {
    EXPECT_EQ(row.at("in_steps"), 50) << row;
    EXPECT_EQ(row.contains("step_share"), row.at("function") == "AllReduce") << row;
  }
  EXPECT_NE(outcome.output.find("5 steps of 100.000 ms: at least 10.00 % of their time in these, +"),
            std::string::npos)
      << outcome.output;
}

TEST(Overhead, NamesTheRankThatOthersWaitFor) {
  const Folder folder;
  for (const int ranks : {2, 3, 8}) {
    const auto name = std::to_string(ranks);
    const auto [outcome, document] =
        overhead(folder, write_job(folder, name, {.ranks = ranks, .late = ranks - 1}));
    ASSERT_EQ(document.at("late_ranks").size(), 1u) << outcome.output;
    EXPECT_EQ(document.at("late_ranks").at(0).at("rank"), ranks - 1);
  }
}

TEST(Overhead, NamesASlowSchedule) {
  const Folder folder;
  const std::string ours = write_job(folder, "ours", {.slow = 1.8});
  const auto [outcome, document] = overhead(folder, ours);
  ASSERT_EQ(document.at("slow_schedules").size(), 3u) << outcome.output;
  for (const json& slow : document.at("slow_schedules")) {
    EXPECT_EQ(slow.at("schedule"), "tree");
    EXPECT_EQ(slow.at("than"), "direct");
    EXPECT_NEAR(slow.at("factor").get<double>(), 1.8, 0.05);
  }
  EXPECT_NE(outcome.output.find("slow: tree for AllReduce of Float32"), std::string::npos) << outcome.output;
  // Against native, from the factor that was asked for on.
  const std::string native = write_job(folder, "native", {.native = true});
  const auto against = overhead(folder, ours + " --slow 1.5 --baseline " + native);
  EXPECT_NE(against.outcome.output.find("times native"), std::string::npos) << against.outcome.output;
}

TEST(Overhead, TwoThousandRanksInAFewSeconds) {
  const Folder folder;
  const std::string job =
      write_job(folder, "job", {.ranks = 2432, .calls = 20, .late = 1234, .slow = 1.6, .seed = 7});
  const auto start = std::chrono::steady_clock::now();
  const auto [outcome, document] = overhead(folder, job);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::printf("2432 summaries merged in %.2f s\n", took.count());
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(took.count(), 5);
#endif
  EXPECT_EQ(document.at("summaries"), 2432);
  ASSERT_EQ(document.at("late_ranks").size(), 1u);
  EXPECT_EQ(document.at("late_ranks").at(0).at("rank"), 1234);
  ASSERT_FALSE(document.at("slow_schedules").empty());
  for (const json& slow : document.at("slow_schedules"))
    EXPECT_EQ(slow.at("schedule"), "tree");
}

/// A rank's calls of 1 ms, by a plan and by kernels over peer memory, on a GPU.
void write_phases(int rank, const std::string& file) {
  Communicator c(1, {0, 0x1000, "DetCCL", rank, 2, 0});
  Operation operation{.rank = rank,
                      .ranks = 2,
                      .communicator = 0x1000,
                      .function = "AllReduce",
                      .datatype = "ncclFloat32",
                      .count = 1024};
  for (int call = 0; call < 4; ++call) {
    operation.schedule = "direct";
    operation.transfer = 600'000;
    operation.fold = 200'000;
    operation.kernel = 0;
    c.observe(operation, Moment::measured, 1'000'000);
    operation.schedule = "peer";
    operation.transfer = operation.fold = 0;
    operation.kernel = 800'000;
    c.observe(operation, Moment::measured, 1'000'000);
  }
  operation.schedule = "tree";  // not told apart
  operation.kernel = 0;
  c.observe(operation, Moment::measured, 1'000'000);
  std::ofstream(file) << profiler::summary(c);
}

TEST(Overhead, PhasesByTheirNames) {
  const Folder folder;
  for (int rank = 0; rank < 2; ++rank)
    write_phases(rank, folder.file(std::to_string(rank) + ".json"));
  const std::string metrics = folder.file("metrics.prom");
  const auto [outcome, document] =
      overhead(folder, folder.file("0.json") + " " + folder.file("1.json") + " --prometheus " + metrics);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\n  transfer 37.5 %, fold 12.5 %, kernel 50.0 %\n"), std::string::npos)
      << outcome.output;
  std::map<std::string, json> phases;
  for (const json& row : document.at("communicators").at(0).at("operations"))
    phases[row.at("schedule")] = row.value("phases", json());
  EXPECT_EQ(phases, (std::map<std::string, json>{{"direct", {{"transfer", 0.75}, {"fold", 0.25}}},
                                                 {"peer", {{"kernel", 1.0}}},
                                                 {"tree", json()}}));
  std::ifstream stream(metrics);
  std::map<std::string, double> seconds;
  const std::regex sample(
      R"re(detccl_collective_phase_seconds_total\{.*schedule="([a-z]+)",phase="([a-z]+)"\} (.*))re");
  for (std::string line; std::getline(stream, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, sample))
      seconds[parts.str(1) + " " + parts.str(2)] = std::stod(parts[3]);
  }
  EXPECT_EQ(seconds, (std::map<std::string, double>{
                         {"direct transfer", 0.0048}, {"direct fold", 0.0016}, {"peer kernel", 0.0064}}));
}

TEST(Overhead, AsMetrics) {
  const Folder folder;
  const std::string ours = write_job(folder, "ours", {.late = 3});
  const std::string native = write_job(folder, "native", {.native = true});
  const std::string file = folder.file("metrics.prom");
  ASSERT_EQ(
      run(DETCCL_BINARY " overhead " + ours + " --baseline " + native + " --prometheus " + file).exit_code,
      0);
  std::ifstream stream(file);
  const std::regex sample(R"re(([a-z_]+)\{([a-z_]+="[^"]*",?)*\} [-+.0-9e]+)re"),
      help(R"(# (HELP|TYPE) [a-z_]+ .+)");
  std::map<std::string, int> samples;
  for (std::string line; std::getline(stream, line);) {
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, sample) || std::regex_match(line, help)) << line;
    if (line.front() != '#') ++samples[parts[1]];
  }
  EXPECT_EQ(samples["detccl_collective_operations_total"], 3);
  EXPECT_EQ(samples["detccl_collective_bytes_total"], 3);
  EXPECT_EQ(samples["detccl_collective_duration_seconds"], 9);
  EXPECT_EQ(samples["detccl_collective_overhead_ratio"], 3);
  EXPECT_EQ(samples["detccl_late_rank_waiting_seconds"], 1);
}

TEST(Overhead, WhatCannotBeReadIsNamed) {
  const Folder folder;
  const std::string job = write_job(folder, "job", {.ranks = 4});
  const std::string damaged = job + "/damaged.json";
  std::ifstream whole(job + "/1000-0.json");
  std::string text((std::istreambuf_iterator<char>(whole)), {});
  for (const std::string& content :
       {text.substr(0, text.size() / 2), std::string("{}"), std::string("[1]"),
        std::string(text).replace(text.find("\"count\":40"), 10, "\"count\":41")}) {
    std::ofstream(damaged) << content;
    const auto [outcome, document] = overhead(folder, job);
    EXPECT_EQ(outcome.exit_code, content.find("41") == std::string::npos ? 1 : outcome.exit_code);
    EXPECT_EQ(document.at("communicators").at(0).at("summaries"), 4) << content;
  }
  EXPECT_EQ(overhead(folder, folder.file("none")).outcome.exit_code, 2);
  EXPECT_EQ(overhead(folder, job + " --baseline " + folder.file("none")).outcome.exit_code, 2);
  EXPECT_EQ(overhead(folder, job + " --json /nowhere/x.json").outcome.exit_code, 2);
}

}  // namespace
}  // namespace detccl::test
