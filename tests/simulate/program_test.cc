// SPDX-License-Identifier: Apache-2.0
// The program as it is called.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace {

struct Result {
  int status = -1;
  std::string output;
};

Result simulate(const std::string& arguments) {
  Result result;
  FILE* pipe = popen(("timeout 240 '" DETCCL_SIMULATE "' " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.output.append(buffer, got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

TEST(Program, PrintsJson) {
  const Result r = simulate("--platform nvswitch --gpus 4 --collective all_reduce --sizes 1M 64K --json -");
  ASSERT_EQ(r.status, 0) << r.output;
  const auto json = nlohmann::json::parse(r.output);
  EXPECT_EQ(json.at("rows").size(), 2u);
  EXPECT_EQ(json.at("rows")[0].at("bytes"), 1 << 20);
  EXPECT_EQ(json.at("ranks"), 4);
}

TEST(Program, RejectsBadUsage) {
  EXPECT_EQ(simulate("--schedule none").status, 2);
  EXPECT_EQ(simulate("--schedule ring --contract tree").status, 2);
  EXPECT_EQ(simulate("--platform nvswitch --nodes 2").status, 2);
  EXPECT_EQ(simulate("--platform ring").status, 2);
}

}  // namespace
