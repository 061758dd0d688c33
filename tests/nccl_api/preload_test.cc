// SPDX-License-Identifier: Apache-2.0
// An unmodified program, linked with libnccl.so.2 only, under `detccl run` and under a plain LD_PRELOAD.
#include <gtest/gtest.h>

#include "nccl_api/digest.h"
#include "support/command.h"

namespace detccl::test {
namespace {

std::string run_linked(int ranks, const std::string& launcher, const std::string& environment = "") {
  return run_client(ranks, DETCCL_TEST_CLIENT, launcher, environment);
}

constexpr const char* kPermuted = "HOSTNCCL_PLACEMENT=3,1,0,4,2,5";

TEST(Preload, UnderDetcclRunThePlacementDoesNotMatter) {
  const std::string ours = run_linked(6, DETCCL_TEST_PROGRAM " run --host --");
  EXPECT_EQ(ours, run_linked(6, DETCCL_TEST_PROGRAM " run --host --chunk 1K --schedule tree --prove --",
                             kPermuted));
  const std::string host = "LD_LIBRARY_PATH=" DETCCL_TEST_HOSTNCCL_FOLDER;
  const std::string native = run_linked(6, "", host);
  EXPECT_NE(native, run_linked(6, "", host + " " + kPermuted))
      << "native sums do not depend on the placement";
  EXPECT_EQ(native, run_linked(6, DETCCL_TEST_PROGRAM " run --host --disable --"));
  EXPECT_EQ(ours, run_linked(6, "env LD_PRELOAD=" DETCCL_TEST_LIBRARY, host))
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
