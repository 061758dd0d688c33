// SPDX-License-Identifier: Apache-2.0
// The detccl binary: `detccl plan`, as a user runs it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace {

struct Outcome {
  int status = -1;
  std::string output;  ///< both streams
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = popen((DETCCL_BINARY " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;)
    outcome.output.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
  return outcome;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlanCommand, ProvesATreeOf2432Ranks) {
  const Outcome o =
      run("plan --collective all_reduce --ranks 2432 --bytes 64M --schedule tree --contract tree --prove");
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_TRUE(contains(o.output, "67108864 bytes of float32")) << o.output;
  EXPECT_TRUE(contains(o.output, "\nproved ")) << o.output;
  for (const char* figure : {"stages", "bytes sent", "bytes received", "peers", "scratch"}) {
    EXPECT_TRUE(contains(o.output, figure)) << o.output;
  }
}

TEST(PlanCommand, Json) {
  const Outcome o =
      run("plan --collective reduce --ranks 5 --bytes 1K --schedule ring --contract linear:wide/4 --type "
          "bfloat16 "
          "--root 2 --rank 4 --prove --json");
  ASSERT_EQ(o.status, 0) << o.output;
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["collective"], "reduce");
  EXPECT_EQ(json["schedule"], "ring");
  EXPECT_EQ(json["contract"], "linear:wide/4");
  EXPECT_EQ(json["ranks"], 5);
  EXPECT_EQ(json["type"], "bfloat16");
  EXPECT_EQ(json["bytes"], 1024);
  EXPECT_EQ(json["count"], 512);
  EXPECT_EQ(json["root"], 2);
  EXPECT_EQ(json["proved"], true);
  EXPECT_FALSE(json.contains("failure"));
  EXPECT_GE(json["proof_seconds"], 0.0);
  // The last rank receives the first block's rounded sum and sends the result to its neighbour.
  EXPECT_EQ(json["rank"]["number"], 4);
  EXPECT_EQ(json["rank"]["bytes_received"], 1024);
  EXPECT_EQ(json["rank"]["bytes_sent"], 1024);
  EXPECT_EQ(json["rank"]["peers"], 1);
  EXPECT_EQ(json["rank"]["stages"], 2);
  EXPECT_EQ(json["per_rank"]["most"]["peers"], 2);
  EXPECT_EQ(json["per_rank"]["least"]["peers"], 1);
}

TEST(PlanCommand, WithoutProofThereIsNoWordOfIt) {
  const Outcome text = run("plan --ranks 4 --bytes 1G");
  EXPECT_EQ(text.status, 0);
  EXPECT_FALSE(contains(text.output, "proved")) << text.output;
  const Outcome json = run("plan --ranks 4 --bytes 1G --json");
  EXPECT_FALSE(nlohmann::json::parse(json.output).contains("proved"));
}

TEST(PlanCommand, ReduceScatterDividesTheBytes) {
  const Outcome o = run("plan --collective reduce_scatter --ranks 3 --bytes 1000 --type int8 --json --prove");
  ASSERT_EQ(o.status, 0) << o.output;
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["count"], 333);
  EXPECT_EQ(json["bytes"], 999);
}

TEST(PlanCommand, HelpAndVersion) {
  EXPECT_EQ(run("--version").output, "detccl " DETCCL_VERSION "\n");
  EXPECT_EQ(run("--version").status, 0);
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_TRUE(contains(run("--help").output, "plan"));
  EXPECT_EQ(run("plan --help").status, 0);
  EXPECT_TRUE(contains(run("plan --help").output, "--prove"));
}

TEST(PlanCommand, BadUsageExitsWith2AndSaysWhy) {
  const char* const kBad[] = {"",
                              "plans",
                              "--verbose",
                              "plan",
                              "plan --ranks 4",
                              "plan --bytes 4",
                              "plan --ranks 0 --bytes 4",
                              "plan --ranks -1 --bytes 4",
                              "plan --ranks x --bytes 4",
                              "plan --ranks 4 --bytes 4T",
                              "plan --ranks 4 --bytes -4",
                              "plan --ranks 4 --bytes ''",
                              "plan --ranks 4 --bytes 4KB",
                              "plan --ranks 4 --bytes 99999999999G",
                              "plan --ranks 4 --bytes 6",
                              "plan --ranks 4 --bytes 8 --type float",
                              "plan --ranks 4 --bytes 8 --contract tree/3",
                              "plan --ranks 4 --bytes 8 --contract ring",
                              "plan --ranks 4 --bytes 8 --schedule halve",
                              "plan --ranks 4 --bytes 8 --schedule tree --contract linear",
                              "plan --ranks 4 --bytes 8 --schedule ring --contract tree",
                              "plan --ranks 4 --bytes 8 --collective broadcast",
                              "plan --ranks 4 --bytes 8 --root 0",
                              "plan --ranks 4 --bytes 8 --collective reduce --root 4",
                              "plan --ranks 4 --bytes 8 --rank 4",
                              "plan --ranks 4 --bytes 8 --unknown",
                              "plan --ranks 4 --bytes 8 extra"};
  for (const char* arguments : kBad) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.status, 2) << arguments << ": " << o.output;
    EXPECT_FALSE(o.output.empty()) << arguments;
  }
}

TEST(PlanCommand, WhyShowsTheChoiceAndTheReason) {
  const Outcome o = run("plan --why --collective all_reduce --ranks 2432 --bytes 64M --type bfloat16");
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_TRUE(contains(o.output, "\n> direct ")) << o.output;
  EXPECT_TRUE(contains(o.output, "no tuning file")) << o.output;
  const Outcome tuned =
      run("plan --why --json --collective all_reduce --ranks 2432 --bytes 64M --tuning h200 --group 8");
  EXPECT_EQ(tuned.status, 0) << tuned.output;
  const auto json = nlohmann::json::parse(tuned.output);
  const std::string schedule = json.at("chosen").at("schedule");
  EXPECT_TRUE(contains(schedule, "hier(")) << schedule;  // the network carries an eighth of it
  EXPECT_TRUE(contains(json.at("chosen").at("reason"), "without a tuning file it would be direct"));
  double before = 0;
  for (const auto& option : json.at("options")) {
    double sum = 0;
    for (const auto& [term, us] : option.at("terms_us").items())
      sum += (term == "hidden" ? -1 : 1) * us.get<double>();
    const double all = option.at("predicted_us");
    EXPECT_NEAR(sum, all, 1e-6 * all);
    EXPECT_GE(all, before);
    before = all;
  }
}

TEST(PlanCommand, WhyKeepsToAGivenSchedule) {
  const Outcome o = run("plan --why --host --ranks 4 --bytes 1M --schedule tree --tuning host --json");
  EXPECT_EQ(o.status, 0) << o.output;
  const auto json = nlohmann::json::parse(o.output);
  for (const auto& option : json.at("options"))
    EXPECT_EQ(option.at("schedule"), "tree");
}

TEST(PlanCommand, WhySaysWhereThereAreNoPlans) {
  const std::string why = "plan --why --bytes 1M --ranks ";
  EXPECT_TRUE(contains(run(why + "8").output, "auto goes over peer memory instead"));
  EXPECT_TRUE(nlohmann::json::parse(run(why + "2 --json").output).contains("note"));
  for (const char* without :
       {"9", "8 --host", "8 --tuning h200", "8 --schedule direct", "8 --contract tree:wide/2"})
    EXPECT_FALSE(contains(run(why + without).output, "peer")) << without;
}

TEST(PlanCommand, WhyNamesWhatIsWrong) {
  const Outcome o = run("plan --why --ranks 4 --bytes 1M --tuning /there/is/none");
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(contains(o.output, "/there/is/none cannot be read")) << o.output;
  EXPECT_EQ(run("plan --why --ranks 4 --bytes 1M --group 3").status, 2);
  EXPECT_EQ(run("plan --why --ranks 4 --bytes 0").status, 2);
}

}  // namespace
