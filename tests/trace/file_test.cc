// SPDX-License-Identifier: Apache-2.0
// Trace files: what was written is read, also of a file that was cut, damaged, or whose writer was killed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "simulated_run.h"
#include "support/command.h"
#include "trace/compression.h"
#include "trace/reader.h"
#include "trace/seal.h"
#include "trace/writer.h"

namespace {

using namespace detccl;
using test::Records;
using trace::Record;

const perf::Shape kShape{4, 30, 20, 2, 0};

std::unique_ptr<trace::Reader> open(const std::string& path) {
  std::string error;
  auto source = trace::open_file(path, error);
  auto reader = source ? trace::Reader::open(std::move(source), error) : nullptr;
  EXPECT_TRUE(reader) << error;
  return reader;
}

struct Contents {
  Records records;
  bool whole = false;
};

Contents read_all(const trace::Reader& reader) {
  Contents contents;
  trace::RecordCursor cursor(reader, reader.first_offset(), 0);
  Records some;
  while (cursor.next(some)) {
    contents.records.insert(contents.records.end(), some.begin(), some.end());
  }
  contents.whole = cursor.whole();
  return contents;
}

bool same(const Record& a, const Record& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Whether these are the first of those.
void expect_prefix(const Records& some, const Records& all) {
  ASSERT_LE(some.size(), all.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    ASSERT_TRUE(same(some[i], all[i])) << i;
  }
}

std::vector<std::byte> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Records some_records(std::uint32_t rank = 0) {
  Records records = perf::operations_of(kShape, rank);
  perf::fill_digests(records, rank, 5);
  return records;
}

TEST(TraceFile, ReadsWhatWasWritten) {
  const test::Folder folder;
  const Records records = some_records(3);
  const std::string path = perf::write_rank(folder.file("t"), kShape, 3, records);
  EXPECT_TRUE(path.ends_with("/rank-00003.dtr"));
  for (const bool sealed : {false, true}) {
    SCOPED_TRACE(sealed);
    trace::Sealed figures;
    std::string error;
    if (sealed) {
      ASSERT_TRUE(trace::seal(path, figures, error)) << error;
      EXPECT_LT(figures.bytes_after,
                trace::can_compress() ? figures.bytes_before * 2 / 3 : figures.bytes_before + 1);
    }
    const auto reader = open(path);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->run().rank, 3U);
    EXPECT_EQ(reader->run().world_size, 4U);
    EXPECT_EQ(reader->run().environment.at("NCCL_ALGO"), "Ring");
    const Contents contents = read_all(*reader);
    EXPECT_TRUE(contents.whole);
    EXPECT_TRUE(reader->closed());
    EXPECT_EQ(contents.records.size(), records.size());
    expect_prefix(contents.records, records);
    const trace::Tables tables = reader->tables();
    EXPECT_EQ(tables.string(2), "backward");
    EXPECT_EQ(tables.string(77), "");
    ASSERT_EQ(tables.communicators.size(), 3U);
    EXPECT_EQ(tables.communicators[1].name, "tensor_parallel");
    EXPECT_EQ(tables.communicators[1].members, (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(tables.communicators[1].key, trace::communicator_key(tables.communicators[1]));
    const auto index = reader->index();
    ASSERT_TRUE(index);
    EXPECT_EQ(index->size(), 30U);  // a step each
    for (const trace::RollupEntry& entry : *index) {
      trace::RecordCursor cursor(*reader, entry.segment_offset, entry.skip);
      Records some;
      ASSERT_TRUE(cursor.next(some));
      EXPECT_TRUE(same(some[0], records[std::size_t{entry.step} * 20]));
    }
  }
}

TEST(TraceFile, NothingIsOverwritten) {
  const test::Folder folder;
  const Records records = some_records();
  const std::string first = perf::write_rank(folder.file("t"), kShape, 0, records);
  const auto before = bytes_of_file(first);
  const std::string second = perf::write_rank(folder.file("t"), kShape, 0, records);
  EXPECT_TRUE(second.ends_with("/rank-00000.1.dtr"));
  EXPECT_EQ(bytes_of_file(first), before);
  EXPECT_EQ(open(second)->run().part, 1U);
}

TEST(TraceFile, CutAnywhereItReadsUpToTheLastWholeSegment) {
  const test::Folder folder;
  const Records all = some_records();
  const Records records(all.begin(), all.begin() + 40);
  std::string path;
  {
    trace::Writer writer({folder.file("t"), 8, std::chrono::milliseconds(1000)},
                         perf::run_info_of(kShape, 0));
    writer.add_communicator(perf::communicators_of(kShape, 0)[0]);
    writer.append(records);
    path = writer.path();
  }
  const auto bytes = bytes_of_file(path);
  std::size_t most = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    std::string error;
    const auto reader = trace::Reader::open(
        trace::in_memory({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), error);
    if (!reader) {
      EXPECT_EQ(most, 0U);
      continue;
    }
    const Contents contents = read_all(*reader);
    expect_prefix(contents.records, records);
    EXPECT_GE(contents.records.size(), most);
    most = contents.records.size();
    EXPECT_EQ(most % 8, 0U);
    EXPECT_EQ(contents.whole, size == bytes.size());
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(most, records.size());
}

TEST(TraceFile, AnyDamagedByteEndsReadingThere) {
  const test::Folder folder;
  const Records all = some_records();
  const Records records(all.begin(), all.begin() + 40);
  trace::Writer writer({folder.file("t"), 8, std::chrono::milliseconds(1000)}, perf::run_info_of(kShape, 0));
  writer.append(records);
  writer.close();
  const auto bytes = bytes_of_file(writer.path());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    std::string error;
    const auto reader = trace::Reader::open(trace::in_memory(damaged), error);
    if (!reader) continue;
    const Contents contents = read_all(*reader);
    expect_prefix(contents.records, records);
    const bool in_index = reader->end() && at >= reader->end()->position;
    EXPECT_TRUE(in_index || !contents.whole || contents.records.size() < records.size()) << at;
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(TraceFile, LostRecordsAreCounted) {
  const test::Folder folder;
  Records records = some_records();
  records.erase(records.begin() + 100, records.begin() + 130);
  records.erase(records.begin());
  const auto reader = open(perf::write_rank(folder.file("t"), kShape, 0, records));
  EXPECT_EQ(reader->end()->count, 31U);
}

TEST(TraceFile, StringsHaveOneNumberEach) {
  const test::Folder folder;
  trace::Writer writer({folder.file("t")}, {});
  EXPECT_EQ(writer.string_number(""), 0U);
  EXPECT_EQ(writer.string_number("forward"), 1U);
  EXPECT_EQ(writer.string_number("backward"), 2U);
  EXPECT_EQ(writer.string_number("forward"), 1U);
  writer.close();
  EXPECT_EQ(open(writer.path())->tables().string(2), "backward");
}

TEST(TraceFile, WaitingRecordsAreWrittenInTime) {
  const test::Folder folder;
  const Records records = some_records();
  trace::Writer writer({folder.file("t"), trace::kRecordsPerSegment, std::chrono::milliseconds(20)}, {});
  writer.append(std::span(records).first(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  writer.tick();
  EXPECT_EQ(writer.written(), 5U);
  EXPECT_EQ(read_all(*open(writer.path())).records.size(), 5U);
}

TEST(TraceFile, SurvivesSigkill) {
  const test::Folder folder;
  const std::string path = folder.file("t") + "/" + trace::part_name(0, 0);
  const Records records = some_records();
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    trace::Writer writer({folder.file("t"), 32, std::chrono::milliseconds(1000)},
                         perf::run_info_of(kShape, 0));
    writer.append(std::span(records).first(333));
    [[maybe_unused]] const auto told = write(pipes[1], "x", 1);
    while (true) {
      pause();
    }
  }
  char c = 0;
  ASSERT_EQ(read(pipes[0], &c, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto reader = open(path);
  const Contents contents = read_all(*reader);
  EXPECT_EQ(contents.records.size(), 320U);
  expect_prefix(contents.records, records);
  EXPECT_FALSE(contents.whole);

  trace::Sealed sealed;
  std::string error;
  ASSERT_TRUE(trace::seal(path, sealed, error)) << error;
  EXPECT_FALSE(sealed.was_whole);
  const auto again = open(path);
  EXPECT_EQ(read_all(*again).records.size(), 320U);
  EXPECT_FALSE(read_all(*again).whole);
  ASSERT_TRUE(again->index());
  EXPECT_EQ(again->index()->size(), 16U);
}

/// Exit status: 0 if the writer failed as it should when no more can be written.
int write_until_full(const std::string& folder, const Records& records) {
  trace::Writer writer({folder, 64, std::chrono::milliseconds(1000)}, perf::run_info_of(kShape, 0));
  if (writer.error() != 0 || writer.take_failure()) return 1;
  writer.append(std::span(records).first(500));
  writer.append(std::span(records).subspan(500));
  writer.close();
  if (writer.error() != EFBIG) return 2;
  if (!writer.take_failure() || writer.take_failure()) return 3;
  if (writer.written() + writer.lost() != records.size()) return 4;
  if (writer.written() != 384) return 5;
  return 0;
}

TEST(TraceFile, AFullDiskCostsOnlyWhatDoesNotFit) {
  const test::Folder folder;
  const Records records = some_records();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const rlimit limit{40000, 40000};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(write_until_full(folder.file("t"), records));
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Contents contents = read_all(*open(folder.file("t") + "/rank-00000.dtr"));
  EXPECT_EQ(contents.records.size(), 384U);
  expect_prefix(contents.records, records);
}

TEST(TraceFile, AFileThatIsRemovedIsAFailureOfAllThatWasWritten) {
  const test::Folder folder;
  const Records records = some_records();
  trace::Writer writer({folder.file("t"), 64, std::chrono::milliseconds(1000)}, perf::run_info_of(kShape, 0));
  writer.append(std::span(records).first(128));
  EXPECT_EQ(writer.written(), 128U);
  std::filesystem::remove_all(folder.file("t"));
  writer.append(std::span(records).subspan(128, 64));
  EXPECT_EQ(writer.error(), ENOENT);
  EXPECT_EQ(writer.written(), 0U);
  writer.append(std::span(records).subspan(192, 8));
  writer.close();
  EXPECT_EQ(writer.lost(), 200U);
  EXPECT_TRUE(writer.take_failure());
}

TEST(TraceFile, SealingKeepsCountOfWhatWasLostAtTheEnd) {
  const test::Folder folder;
  const Records records = some_records();
  std::string path;
  {
    trace::Writer writer({folder.file("t")}, perf::run_info_of(kShape, 0));
    writer.append(std::span(records).first(100));
    writer.end_at(107);
    writer.close();
    path = writer.path();
  }
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(open(path)->end()->count, 7U);
    trace::Sealed sealed;
    std::string error;
    ASSERT_TRUE(trace::seal(path, sealed, error)) << error;
    EXPECT_TRUE(sealed.was_whole);
  }
  EXPECT_EQ(read_all(*open(path)).records.size(), 100U);
}

TEST(TraceFile, ADamagedFileIsNotSealed) {
  const test::Folder folder;
  const std::string path = perf::write_rank(folder.file("t"), kShape, 0, some_records());
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
  file.seekg(middle);
  const int byte = file.get();
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  const auto size = std::filesystem::file_size(path);
  trace::Sealed sealed;
  std::string error;
  EXPECT_FALSE(trace::seal(path, sealed, error));
  EXPECT_NE(error.find("damaged"), std::string::npos) << error;
  EXPECT_EQ(std::filesystem::file_size(path), size);
}

TEST(TraceFile, AFolderThatCannotBeMadeIsAnError) {
  trace::Writer writer({"/proc/no/such/folder"}, {});
  EXPECT_NE(writer.error(), 0);
  const Records records = some_records();
  writer.append(records);
  writer.close();
  EXPECT_EQ(writer.lost(), records.size());
  EXPECT_TRUE(writer.take_failure());
}

}  // namespace
