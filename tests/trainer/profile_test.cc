// SPDX-License-Identifier: Apache-2.0
// A real job's profile: its steps, and what determinism cost it.
#include <gtest/gtest.h>

#include <string>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::mpirun;
using detccl::test::Outcome;
using detccl::test::run;

Outcome train(const std::string& folder, const std::string& detccl, const std::string& environment) {
  return run(mpirun(2, "NCCL_PROFILER_PLUGIN=" DETCCL_PROFILER
                       " DETCCL_PROFILER_EVENTS=kernels DETCCL_PROFILER_DIR=" +
                           folder + " " + environment) +
             DETCCL_PROGRAM " run " + detccl + " -- " TRAINER_PROGRAM " --device host --quiet --steps 60");
}

TEST(Profiles, StepsBaselineAndSamplesOfATraining) {
  const Folder folder;
  const std::string native = folder.file("native"), ours = folder.file("ours"),
                    sampled = folder.file("sampled");
  const Outcome first = train(native, "--disable", "");
  ASSERT_EQ(first.exit_code, 0) << first.output;
  const Outcome second = train(ours, "", "");
  ASSERT_EQ(second.exit_code, 0) << second.output;
  // With a trace as well: NVTX's ranges are listened to once.
  const Outcome third =
      train(sampled, "--profiler-shadow 2 --trace 1 --trace-dir " + folder.file("trace"), "");
  ASSERT_EQ(third.exit_code, 0) << third.output;

  const Outcome from_baseline = run(DETCCL_PROGRAM " overhead " + ours + " --baseline " + native);
  EXPECT_EQ(from_baseline.exit_code, 0) << from_baseline.output;
  EXPECT_NE(from_baseline.output.find(" 59 steps of "), std::string::npos) << from_baseline.output;
  EXPECT_NE(from_baseline.output.find("(baseline)"), std::string::npos) << from_baseline.output;
  const Outcome from_samples = run(DETCCL_PROGRAM " overhead " + sampled);
  EXPECT_EQ(from_samples.exit_code, 0) << from_samples.output;
  EXPECT_NE(from_samples.output.find(" 59 steps of "), std::string::npos) << from_samples.output;
  EXPECT_NE(from_samples.output.find("(shadow, "), std::string::npos) << from_samples.output;
  EXPECT_NE(from_samples.output.find("  transfer "), std::string::npos) << from_samples.output;
}

}  // namespace
