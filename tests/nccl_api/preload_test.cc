// SPDX-License-Identifier: Apache-2.0
// An unmodified program, linked with libnccl.so.2 only, under `detccl run` and under a plain LD_PRELOAD.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "support/command.h"

namespace detccl::test {
namespace {

/// The lines "digest …" of an output; all ranks must have printed the same.
std::string digest_of(const Outcome& outcome, int ranks) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::set<std::string> digests;
  int lines = 0;
  std::istringstream text(outcome.output);
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("digest ")) continue;
    ++lines;
    digests.insert(line);
  }
  EXPECT_EQ(lines, ranks) << outcome.output;
  EXPECT_EQ(digests.size(), 1u) << outcome.output;
  return digests.empty() ? "" : *digests.begin();
}

/// As `ranks` processes, `launcher` before the program.
std::string run_client(int ranks, const std::string& launcher, const std::string& environment = "") {
  const Folder folder;
  return digest_of(
      run(mpirun(ranks, environment) + launcher + " " DETCCL_TEST_CLIENT " " + folder.file("id")), ranks);
}

constexpr const char* kPermuted = "HOSTNCCL_PLACEMENT=3,1,0,4,2,5";

TEST(Preload, UnderDetcclRunThePlacementDoesNotMatter) {
  const std::string ours = run_client(6, DETCCL_TEST_PROGRAM " run --host --");
  EXPECT_EQ(ours, run_client(6, DETCCL_TEST_PROGRAM " run --host --chunk 1K --schedule tree --prove --",
                             kPermuted));
  const std::string host = "LD_LIBRARY_PATH=" DETCCL_TEST_HOSTNCCL_FOLDER;
  const std::string native = run_client(6, "", host);
  EXPECT_NE(native, run_client(6, "", host + " " + kPermuted))
      << "native sums do not depend on the placement";
  EXPECT_EQ(native, run_client(6, DETCCL_TEST_PROGRAM " run --host --disable --"));
  EXPECT_EQ(ours, run_client(6, "env LD_PRELOAD=" DETCCL_TEST_LIBRARY, host))
      << "a plain LD_PRELOAD does the same";
}

TEST(Preload, TheExitStatusIsThePrograms) {
  const Folder folder;
  const std::string client = DETCCL_TEST_CLIENT " " + folder.file("id");
  EXPECT_EQ(run(DETCCL_TEST_PROGRAM " run --host -- " + client + " 0").exit_code, 0);
  EXPECT_EQ(run(DETCCL_TEST_PROGRAM " run --host -- " + client + " 7").exit_code, 7);
}

/// A real NCCL for GPUs, where this machine has one and no driver: it loads, and says itself what is missing.
TEST(Preload, WithoutADriverTheHostLibraryIsTaken) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "this machine has GPUs";
  const Folder folder;
  const Outcome outcome =
      run(DETCCL_TEST_PROGRAM " run --log info -- " DETCCL_TEST_CLIENT " " + folder.file("id"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("NCCL on host memory, as there is no NVIDIA driver"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("(host memory); contract tree"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace detccl::test
