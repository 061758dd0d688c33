// SPDX-License-Identifier: Apache-2.0
// Traces of a real job, and what their comparison says.
#include <gtest/gtest.h>

#include <string>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::mpirun;
using detccl::test::Outcome;
using detccl::test::run;

const std::string kShuffled = "HOSTNCCL_PLACEMENT=0,2,3,1";

class Traces : public testing::Test {
 protected:
  /// Trains with 4 ranks, traced into file(name).
  void train(const std::string& name, const std::string& options, const std::string& detccl = "",
             const std::string& environment = "") {
    const Outcome outcome =
        run(mpirun(4, environment) + DETCCL_PROGRAM " run --trace-dir " + folder_.file(name) + " " +
            (detccl.find("--trace ") == std::string::npos ? "--trace 1 " : "") + detccl +
            " -- " TRAINER_PROGRAM " --device host --quiet " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    last_ = outcome.output;
  }
  Outcome trace(const std::string& arguments) { return run(DETCCL_PROGRAM " trace " + arguments); }
  Outcome diff(const std::string& a, const std::string& b, const std::string& options = "") {
    return trace("diff " + folder_.file(a) + " " + folder_.file(b) + " " + options);
  }

  Folder folder_;
  std::string last_;
};

TEST_F(Traces, RunsWithOtherPlacementsAgree) {
  train("a", "--steps 6");
  train("b", "--steps 6", "", kShuffled);
  const Outcome outcome = diff("a", "b");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("same: 96 operations of 4 ranks"), std::string::npos) << outcome.output;
}

TEST_F(Traces, NativeRunsPartAtACollectiveWithTheSameInputs) {
  train("a", "--steps 4", "--disable");
  train("b", "--steps 4", "--disable", kShuffled);
  const Outcome outcome = diff("a", "b");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("rank 0, step 0, gradients: all_reduce"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("same inputs, outputs differ"), std::string::npos) << outcome.output;
}

TEST_F(Traces, OtherInputsAreNamedAndLocated) {
  train("a", "--steps 4", "--trace chunks:1");
  train("b", "--steps 4 --seed 2", "--trace chunks:1");
  const Outcome outcome = diff("a", "b");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("inputs differ"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("bytes 0-8"), std::string::npos) << outcome.output;
}

TEST_F(Traces, AResumedRunsTraceGoesOn) {
  const std::string checkpoint = " --checkpoint " + folder_.file("{step}") + " --checkpoint-every 3";
  train("whole", "--steps 6" + checkpoint);
  train("parts", "--steps 3" + checkpoint);
  train("parts", "--steps 6 --resume " + folder_.file("3") + checkpoint);
  const Outcome outcome = diff("whole", "parts");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(Traces, WindowsOfStepsAndRanks) {
  train("a", "--steps 6", "--trace-steps 2-3 --trace-ranks 0,2-3");
  const Outcome outcome = trace("ls " + folder_.file("a"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("\n     1 "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\n     3 "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find(" 2-3 "), std::string::npos) << outcome.output;
}

TEST_F(Traces, ReduceScatterAllGatherAndGroupsAreRecordedToo) {
  const std::string options = "--steps 3 --reduce reduce-scatter --group 3 --bucket-bytes 3000";
  train("a", options);
  train("b", options, "--schedule direct", kShuffled);
  EXPECT_EQ(diff("a", "b").exit_code, 0);
  const std::string shown = trace("show " + folder_.file("a") + " --rank 2").output;
  EXPECT_NE(shown.find("reduce_scatter"), std::string::npos) << shown;
  EXPECT_NE(shown.find("all_gather"), std::string::npos) << shown;
}

TEST_F(Traces, AProfilerKeepsHearingTheRanges) {
  train("a", "--steps 5", "", "NVTX_INJECTION64_PATH=" NVTX_PROFILER);
  // A step, its gradients, its weights: 15 on each rank.
  EXPECT_NE(last_.find("profiler: 15 ranges"), std::string::npos) << last_;
  const std::string shown = trace("show " + folder_.file("a") + " --rank 0").output;
  EXPECT_NE(shown.find("gradients"), std::string::npos) << shown;
}

TEST_F(Traces, AFolderThatCannotBeStopsNothing) {
  const Outcome outcome =
      run(mpirun(2) + DETCCL_PROGRAM " run --trace 1 --trace-dir /proc/none -- " TRAINER_PROGRAM
                                     " --device host --quiet --steps 2");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("no trace: "), std::string::npos) << outcome.output;
}

}  // namespace
