// SPDX-License-Identifier: Apache-2.0
// A recorder in a process that is killed while it records, that gets signals, or whose files may not grow.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "command.h"
#include "read_records.h"
#include "recorder/recorder.h"
#include "trace/seal.h"

namespace detccl::recorder {
namespace {

constexpr int kThreads = 2;
constexpr std::uint64_t kTableEvery = 8;

/// What the operation number `sequence` of a communicator is said to have been given.
trace::Digest input_of(std::uint64_t communicator, std::uint64_t sequence) {
  return {(sequence + 1) * 0x9e3779b97f4a7c15, communicator};
}

trace::Record operation(std::uint64_t communicator, std::uint64_t sequence) {
  trace::Record record;
  record.communicator = communicator;
  record.count = 1;
  record.input = input_of(communicator, sequence);
  return record;
}

/// Runs `body` in a child, whose exit status it gives.
pid_t in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    _exit(body());
  }
  return child;
}

/// Records as fast as it can until it is killed, some operations with tables.
int record_for_ever(const std::string& folder) {
  Recorder recorder({folder, {}, 16}, {});
  std::vector<std::thread> threads;
  for (std::uint64_t communicator = 1; communicator <= kThreads; ++communicator) {
    threads.emplace_back([&recorder, communicator] {
      for (std::uint64_t i = 0;; ++i) {
        std::vector<trace::ChunkTable> tables;
        if (i % kTableEvery == 0) tables.push_back({0, 16, 16, false, {input_of(communicator, i)}});
        recorder.append(operation(communicator, i), std::move(tables));
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return 1;
}

std::uint64_t size_of(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : size;
}

TEST(RecorderFailure, KilledWhileItRecordsEveryRecordInTheFileIsRight) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5; ++round) {
    const test::Folder folder;
    const std::string path = folder.file("t") + "/" + trace::part_name(0, 0);
    const pid_t child = in_child([&] { return record_for_ever(folder.file("t")); });
    const std::uint64_t enough = 300'000 + random() % 2'000'000;
    while (size_of(path) < enough && waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);

    const auto reader = open(path);
    const std::vector<trace::Record> all = records_of(*reader);
    ASSERT_GT(all.size(), 500u);
    EXPECT_FALSE(reader->closed());
    std::size_t tables = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const trace::Record& r = all[i];
      ASSERT_TRUE(i == 0 || r.sequence > all[i - 1].sequence) << i;
      ASSERT_EQ(r.input, input_of(r.communicator, r.communicator_sequence)) << i;
      if (r.communicator_sequence % kTableEvery != 0 || (i % 500 != 0 && i + 50 < all.size())) continue;
      const auto its = reader->chunk_tables(r.sequence);
      ASSERT_EQ(its.size(), 1u) << i << " of " << all.size();
      EXPECT_EQ(its[0].digests.at(0), r.input);
      ++tables;
    }
    EXPECT_GT(tables, 0u);

    trace::Sealed sealed;
    std::string error;
    ASSERT_TRUE(trace::seal(path, sealed, error)) << error;
    EXPECT_EQ(records_of(*open(path)).size(), all.size());
  }
}

TEST(RecorderFailure, AFileThatMayNotGrowStopsNothingAndIsTold) {
  constexpr std::uint64_t kOperations = 40'000;
  const test::Folder folder;
  const pid_t child = in_child([&] {
    const rlimit limit{1'000'000, 1'000'000};  // SIGXFSZ would end the process
    setrlimit(RLIMIT_FSIZE, &limit);
    std::atomic<int> warnings{0};
    std::string line;
    Recorder recorder({folder.file("t"), {}, 0}, {}, [&](const std::string& text) {
      ++warnings;
      line = text;
    });
    for (std::uint64_t i = 0; i < kOperations; ++i)
      recorder.append(operation(1, i));
    recorder.close();
    std::ofstream(folder.file("said")) << line << "\n" << recorder.problem() << "\n";
    return warnings == 1 ? 0 : 1;
  });
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const std::string path = folder.file("t") + "/" + trace::part_name(0, 0);
  const std::size_t there = records_of(*open(path)).size();
  EXPECT_GT(there, 5000u);
  std::ifstream said(folder.file("said"));
  std::string warning, problem;
  std::getline(said, warning);
  std::getline(said, problem);
  EXPECT_EQ(warning, path + ": File too large: nothing more is recorded");
  EXPECT_EQ(problem, path + ": File too large, " + std::to_string(kOperations - there) + " records are lost");
}

TEST(RecorderFailure, AFolderThatVanishesIsTold) {
  const test::Folder folder;
  std::string line;
  Recorder recorder({folder.file("t"), {}, 0}, {}, [&line](const std::string& text) { line = text; });
  recorder.append(operation(1, 0));
  std::filesystem::remove_all(folder.file("t"));
  for (std::uint64_t i = 1; i < 5000; ++i)
    recorder.append(operation(1, i));
  recorder.close();
  EXPECT_NE(line.find(": No such file or directory: nothing more is recorded"), std::string::npos) << line;
  EXPECT_NE(recorder.problem().find(", 5000 records are lost"), std::string::npos) << recorder.problem();
}

TEST(RecorderFailure, ItsThreadTakesNoSignalOfTheProgram) {
  const test::Folder folder;
  const pid_t child = in_child([&] {
    Recorder recorder({folder.file("t"), {}, 0}, {});
    sigset_t mine, mask;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mine, &mask);
    if (sigismember(&mask, SIGTERM) == 1) return 1;  // this thread's mask was left alone
    kill(getpid(), SIGUSR1);  // to any thread that takes it, which would end the process
    const timespec patience{60, 0};
    return sigtimedwait(&mine, nullptr, &patience) == SIGUSR1 ? 0 : 2;
  });
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace detccl::recorder
