// SPDX-License-Identifier: Apache-2.0
// The detccl binary: `detccl tune`, as a user runs it, and what a job makes of its file.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "plan/tuner/file.h"
#include "support/command.h"

namespace {

using detccl::test::Folder;
using detccl::test::Outcome;

/// As test::run(), with more patience: it measures, and the machine may be busy.
Outcome run(const std::string& command) {
  FILE* pipe = popen(("exec 2>&1 </dev/null; timeout -k 5 280 " + command).c_str(), "r");
  if (pipe == nullptr) return {};
  Outcome outcome;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    outcome.output += static_cast<char>(c);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

const std::string kDetccl = DETCCL_BINARY;

TEST(TuneCommand, SaysWhatItNeeds) {
  const Folder folder;
  const std::string tune = kDetccl + " tune -o " + folder.file("t");
  EXPECT_EQ(run(tune).exit_code, 2);
  EXPECT_EQ(run(tune + " -n 4 --launcher mpirun --group 4").exit_code, 2);
  EXPECT_EQ(run(tune + " -n 1 --host").exit_code, 2);
  EXPECT_TRUE(contains(run(tune + " --launcher mpirun").output, "how many ranks a host has"));
  EXPECT_TRUE(contains(run("env OMPI_COMM_WORLD_SIZE=4 " + tune + " -n 4").output, "is run once"));
  std::ofstream(folder.file("t")) << "mine";
  EXPECT_TRUE(contains(run(tune + " -n 4 --host").output, "is there already"));
  EXPECT_EQ(text_of(folder.file("t")), "mine");
  EXPECT_EQ(run(kDetccl + " tune --help").exit_code, 0);
  EXPECT_TRUE(
      contains(run(kDetccl + " tune -n 4 --host -o " + folder.file("none/t")).output, "cannot be written"));
  const Outcome failed = run(tune + "2 --host --launcher false --group 4");
  EXPECT_FALSE(std::filesystem::exists(folder.file("t2.part")));
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_TRUE(contains(failed.output, "nothing could be measured")) << failed.output;
}

TEST(TuneCommand, WritesAFileThatJobsChooseBy) {
  const Folder folder;
  const std::string file = folder.file("tuning");
  const Outcome o = run(kDetccl + " tune --host -n 2 --calls 5 --most-bytes 1048576 -o " + file);
  ASSERT_EQ(o.exit_code, 0) << o.output;
  EXPECT_TRUE(contains(o.output, "tune: 1 of ")) << o.output;
  const std::string text = text_of(file);
  const auto c = detccl::plan::tuner::parse(text);
  EXPECT_TRUE(contains(c.source, "2 ranks")) << c.source;
  EXPECT_TRUE(contains(text, "# all: median error ")) << text;
  EXPECT_TRUE(contains(text, "# halving: median error ")) << text;

  const Outcome why = run(kDetccl + " plan --why --host --ranks 2 --bytes 64K --tuning " + file);
  EXPECT_EQ(why.exit_code, 0) << why.output;
  EXPECT_TRUE(contains(why.output, c.source)) << why.output;

  // All bits are right, and the choice is in the log, once.
  const std::string perf = "env DETCCL_LOG=info DETCCL_TUNING=" + file +
                           " " DETCCL_ALL_REDUCE_PERF " --host --ranks 2 -b 65536 -e 65536 -n 2";
  const Outcome job = run(perf);
  EXPECT_EQ(job.exit_code, 0) << job.output;
  const std::string line = ": all_reduce of 16384 float32 goes by ";
  EXPECT_TRUE(contains(job.output, line)) << job.output;
  EXPECT_TRUE(contains(job.output, "predicted ")) << job.output;
  EXPECT_EQ(job.output.find(line), job.output.rfind(line)) << job.output;

  // At debug every rank tells, and all tell the same.
  const Outcome all = run("env DETCCL_LOG=debug " + perf.substr(perf.find("DETCCL_TUNING")));
  const std::size_t first = all.output.find(line), last = all.output.rfind(line);
  ASSERT_LT(first, last) << all.output;
  EXPECT_EQ(all.output.substr(first, all.output.find('\n', first) - first),
            all.output.substr(last, all.output.find('\n', last) - last));

  std::ofstream(file) << text << "step_us 1\n";
  const Outcome bad = run(perf);
  EXPECT_NE(bad.exit_code, 0);
  EXPECT_TRUE(contains(bad.output, "'step_us' for the second time")) << bad.output;
}

TEST(TuneCommand, OtherFiguresOnARankAreAnErrorOnAll) {
  const Folder folder;
  for (const char* rank : {"0", "1"}) {
    auto c = detccl::plan::tuner::built_in("host");
    c.step *= *rank == '0' ? 1 : 2;
    std::ofstream(folder.file(rank)) << detccl::plan::tuner::write(c);
  }
  const Outcome job = run(detccl::test::mpirun(2) + "sh -c 'DETCCL_TUNING=" + folder.file("") +
                          "$OMPI_COMM_WORLD_RANK exec " DETCCL_ALL_REDUCE_PERF " --host -b 64 -e 64 -n 1'");
  EXPECT_NE(job.exit_code, 0);
  EXPECT_TRUE(contains(job.output, "ranks disagree on the figures of DETCCL_TUNING: ")) << job.output;
}

}  // namespace
