// SPDX-License-Identifier: Apache-2.0
// The example trainer as a user starts it, with NCCL alone and under `detccl run`.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "command.h"

namespace {

using detccl::test::Folder;
using detccl::test::mpirun;
using detccl::test::Outcome;
using detccl::test::run;

const std::string kTrainer = "env NCCL_SOCKET_IFNAME=lo " TRAINER_PROGRAM " --device host --steps 12 ";
const std::string kDetccl = DETCCL_PROGRAM " run -- ";
const std::string kShuffled = "HOSTNCCL_PLACEMENT=0,2,3,1";

/// The lines of the steps; the closing line holds the wall time.
std::string steps(const Outcome& outcome) {
  return outcome.output.substr(0, outcome.output.find("\nweights ") + 1);
}

/// Trains with 4 ranks under DetCCL; the test fails where the run does.
std::string detccl_steps(const std::string& options, const std::string& environment = "") {
  const Outcome outcome = run(mpirun(4, environment) + kDetccl + kTrainer + options);
  EXPECT_EQ(outcome.exit_code, 0) << options << "\n" << outcome.output;
  EXPECT_NE(outcome.output.find("on all 4 rank(s)"), std::string::npos) << outcome.output;
  return steps(outcome);
}

TEST(Trainer, NativeRunsDifferWithThePlacement) {
  const Outcome a = run(mpirun(4) + kTrainer), b = run(mpirun(4, kShuffled) + kTrainer);
  ASSERT_EQ(a.exit_code, 0) << a.output;
  ASSERT_EQ(b.exit_code, 0) << b.output;
  EXPECT_NE(steps(a), steps(b));
}

TEST(Trainer, DetcclRunsAgreeWhateverTheBucketsPlacementAndCollectives) {
  const std::string expected = detccl_steps("");
  EXPECT_EQ(detccl_steps("--bucket-bytes 1000 --group 5", kShuffled), expected);
  EXPECT_EQ(detccl_steps("--reduce reduce-scatter --bucket-bytes 9000", kShuffled), expected);
  EXPECT_EQ(detccl_steps("--average avg --group 2", "DETCCL_SCHEDULE=tree"), expected);
}

TEST(Trainer, Bf16GradientsToo) {
  const std::string expected = detccl_steps("--gradients bf16");
  EXPECT_EQ(detccl_steps("--gradients bf16 --bucket-bytes 3002 --group 3", kShuffled), expected);
  EXPECT_EQ(detccl_steps("--gradients bf16 --reduce reduce-scatter"), expected);
}

class Checkpoints : public testing::Test {
 protected:
  /// The whole run's steps; leaves its checkpoint of step 6 in file("6").
  std::string train() {
    return detccl_steps("--checkpoint " + folder_.file("{step}") + " --checkpoint-every 6");
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  Folder folder_;
};

TEST_F(Checkpoints, AResumedRunLandsOnTheSameBits) {
  const std::string whole = train();
  const std::string rest = whole.substr(whole.find("step 7 "));
  EXPECT_EQ(detccl_steps("--resume " + file("6")), rest);
  EXPECT_EQ(detccl_steps("--reduce reduce-scatter --bucket-bytes 5000 --checkpoint " + file("again") +
                         " --resume " + file("6")),
            rest);
  EXPECT_EQ(run("cmp " + file("12") + " " + file("again")).output, "");
  EXPECT_EQ(run("ls " + file("")).output, "12\n6\nagain\n");  // nothing temporary is left
}

/// A run of one rank is refused with a line that holds `why`.
void expect_refused(const std::string& options, const std::string& why, const std::string& launcher = "") {
  const Outcome outcome = run(launcher + kTrainer + options);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find(why), std::string::npos) << outcome.output;
}

TEST_F(Checkpoints, TruncatedDamagedAndForeignFilesAreRefused) {
  const Outcome outcome = run(kTrainer + "--checkpoint " + file("whole") + " --steps 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::ifstream in(file("whole"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::ofstream(file("short"), std::ios::binary) << bytes.substr(0, bytes.size() - 1);
  std::ofstream(file("long"), std::ios::binary) << bytes << 'x';
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  std::ofstream(file("damaged"), std::ios::binary) << bytes;
  std::ofstream(file("text"), std::ios::binary) << "hello";

  expect_refused("--resume " + file("short"), "bytes instead of");
  expect_refused("--resume " + file("long"), "bytes instead of");
  expect_refused("--resume " + file("damaged"), "damaged: wrong checksum");
  expect_refused("--resume " + file("text"), "is no checkpoint");
  expect_refused("--resume " + file("missing"), "cannot be read");
  expect_refused("--resume " + file("whole") + " --seed 9", "another seed");
  expect_refused("--resume " + file("whole") + " --gradients bf16", "another gradient type");
  expect_refused("--resume " + file("whole") + " --steps 2", "nothing left");
  expect_refused("--resume " + file("whole"), "another number of ranks", mpirun(2));
  expect_refused("--checkpoint " + file("no/such/folder"), "cannot be written");
}

TEST(TrainerUsage, BadFlagsExitWithTwoAndOneMessage) {
  for (const std::string bad : {"--frobnicate", "--bucket-bytes 3", "--steps 0", "--gradients fp8",
                                "--reduce ring", "--checkpoint-every 5", "--batch many"}) {
    const Outcome outcome = run(TRAINER_PROGRAM " " + bad);
    EXPECT_EQ(outcome.exit_code, 2) << bad << "\n" << outcome.output;
    EXPECT_NE(outcome.output.find(bad.substr(0, bad.find(' '))), std::string::npos) << outcome.output;
  }
  const Outcome together = run(mpirun(2) + TRAINER_PROGRAM " --frobnicate");
  EXPECT_EQ(together.exit_code, 2) << together.output;
  EXPECT_EQ(together.output.find("--frobnicate"), together.output.rfind("--frobnicate")) << together.output;
  EXPECT_EQ(run(TRAINER_PROGRAM " --help").exit_code, 0);
  EXPECT_NE(run(TRAINER_PROGRAM " --version").output.find("trainer "), std::string::npos);
}

}  // namespace
