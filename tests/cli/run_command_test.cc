// SPDX-License-Identifier: Apache-2.0
// `detccl run` as a user calls it.
#include <gtest/gtest.h>

#include <fstream>

#include "support/command.h"

namespace detccl::test {
namespace {

const std::string kRun = DETCCL_BINARY " run ";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunCommand, OptionsBecomeTheProgramsEnvironment) {
  const Outcome outcome =
      run(kRun +
          "--contract linear:native --schedule=ring --chunk 64K --log error --prove --disable --timeout 5 "
          "--nccl-library libnccl.so.2 -- env");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* line : {"DETCCL_CONTRACT=linear:native\n", "DETCCL_SCHEDULE=ring\n", "DETCCL_CHUNK=64K\n",
                           "DETCCL_LOG=error\n", "DETCCL_PROVE=1\n", "DETCCL_DISABLE=1\n",
                           "DETCCL_TIMEOUT=5\n", "DETCCL_NCCL_LIBRARY=libnccl.so.2\n"})
    EXPECT_TRUE(contains(outcome.output, line)) << line << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "LD_LIBRARY_PATH=" DETCCL_HOSTNCCL_FOLDER))
      << "a library was asked for";
}

TEST(RunCommand, NothingIsSetThatWasNotAskedFor) {
  const Outcome outcome = run("env -u LD_PRELOAD " + kRun + "--via preload -- env");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "DETCCL_")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "LD_PRELOAD=" DETCCL_LIBRARY "\n")) << outcome.output;
}

TEST(RunCommand, ComesBeforeWhatIsThere) {
  const Outcome outcome =
      run("env LD_LIBRARY_PATH=/x:/y DETCCL_CONTRACT=linear " + kRun +
          "--via preload --host -- env LD_PRELOAD=libc.so.6 " + kRun + "--via preload -- env");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "LD_PRELOAD=" DETCCL_LIBRARY ":libc.so.6\n")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "LD_LIBRARY_PATH=" DETCCL_HOSTNCCL_FOLDER ":")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, ":/x:/y\n")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "DETCCL_CONTRACT=linear\n")) << outcome.output;
}

TEST(RunCommand, LinkedProgramsGetThePreloadAndOthersTheShim) {
  const std::string environment = "env -u LD_PRELOAD DETCCL_LOG=info ";
  const Outcome other = run(environment + kRun + "-- env");
  EXPECT_TRUE(contains(other.output, "LD_PRELOAD=" DETCCL_SHIM "\n")) << other.output;
  EXPECT_TRUE(contains(other.output, "by shim, as the program itself is not linked with NCCL"))
      << other.output;
  const Folder folder;
  const Outcome linked = run(environment + kRun + "-- " DETCCL_CLIENT " " + folder.file("id"));
  EXPECT_EQ(linked.exit_code, 0) << linked.output;
  EXPECT_TRUE(contains(linked.output, "by preload, as the program itself is linked with NCCL"))
      << linked.output;
  const Outcome asked = run(environment + kRun + "--via shim --host -- env");
  EXPECT_TRUE(contains(asked.output, "LD_PRELOAD=" DETCCL_SHIM "\n")) << asked.output;
  EXPECT_TRUE(contains(asked.output, "DETCCL_NCCL_LIBRARY=" DETCCL_HOSTNCCL_FOLDER "/libnccl.so.2\n"))
      << "the shim is told, as it would rather take the program's: " << asked.output;
}

TEST(RunCommand, ArgumentsArriveAsTheyAre) {
  const Outcome outcome = run(kRun + "-- printf '<%s>' --prove -- 'a b' ''");
  EXPECT_EQ(outcome.output, "<--prove><--><a b><>");
  EXPECT_EQ(run(kRun + "printf x").output, "x") << "without options of its own the program needs no --";
}

TEST(RunCommand, TheExitStatusIsTheProgramsOrAsShellsHaveIt) {
  EXPECT_EQ(run(kRun + "-- sh -c 'exit 3'").exit_code, 3);
  EXPECT_EQ(run(kRun + "-- sh -c 'kill -9 $$'").exit_code, 128 + 9);
  const Outcome missing = run(kRun + "-- no-such-program-anywhere");
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_TRUE(contains(missing.output, "detccl: no-such-program-anywhere: No such file")) << missing.output;
  const Folder folder;
  std::ofstream(folder.file("data")) << "no program";
  const Outcome not_runnable = run(kRun + "-- " + folder.file("data"));
  EXPECT_EQ(not_runnable.exit_code, 126);
  EXPECT_TRUE(contains(not_runnable.output, "Permission denied")) << not_runnable.output;
}

void expect_refused(const std::string& command, const std::string& reason) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 2) << command;
  EXPECT_TRUE(contains(outcome.output, reason)) << command << ": " << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "RAN\n")) << command;
}

TEST(RunCommand, MistakesAreRefusedWithWhatIsAllowed) {
  expect_refused(kRun + "--contract trees -- echo RAN", "allowed: tree|linear");
  expect_refused(kRun + "--schedule fast -- echo RAN", "allowed: auto|gather|direct|ring|tree");
  expect_refused(kRun + "--chunk 1 -- echo RAN", "allowed: auto, or bytes");
  expect_refused(kRun + "--log loud -- echo RAN", "allowed: error|warn|info|debug");
  expect_refused(kRun + "--schedule ring -- echo RAN",
                 "DETCCL_SCHEDULE=ring cannot carry out DETCCL_CONTRACT=tree");
  expect_refused(kRun + "--contrakt tree -- echo RAN", "--contrakt is no option of detccl run");
  expect_refused(kRun + "echo --RAN", "the program's own come after --");
  expect_refused(kRun + "--via force -- echo RAN", "auto,preload,shim");
  expect_refused(kRun, "command is required");
  expect_refused("env DETCCL_SHEDULE=ring " + kRun + "-- echo RAN", "the nearest is DETCCL_SCHEDULE");
  expect_refused("env DETCCL_PROVE=yes " + kRun + "-- echo RAN",
                 "DETCCL_PROVE='yes' is not allowed; allowed: 0|1");
}

TEST(RunCommand, HelpListsEveryVariable) {
  const Outcome outcome = run(kRun + "--help");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* name : {"DETCCL_CONTRACT", "DETCCL_SCHEDULE", "DETCCL_CHUNK", "DETCCL_LOG", "DETCCL_PROVE",
                           "DETCCL_DISABLE", "DETCCL_NCCL_LIBRARY", "DETCCL_TIMEOUT", "--host", "--via"})
    EXPECT_TRUE(contains(outcome.output, name)) << name;
}

}  // namespace
}  // namespace detccl::test
