// SPDX-License-Identifier: Apache-2.0
// What is the same although it looks different, and what cannot be compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "simulated_run.h"
#include "support/command.h"
#include "trace/diff.h"
#include "trace/writer.h"

namespace {

using namespace detccl;
using test::Records;
using test::RunRecords;
using trace::Difference;
using trace::Verdict;

const perf::Shape kShape{4, 20, 20, 2, 0};

class Diff : public ::testing::Test {
 protected:
  std::string a() const { return folder_.file("a"); }
  std::string b() const { return folder_.file("b"); }
  trace::RunDiff diff(const trace::DiffOptions& options = {}) const {
    return trace::diff_runs(a(), b(), std::nullopt, options);
  }
  Verdict verdict(bool full) const {
    trace::DiffOptions options;
    options.ignore_rollups = full;
    return diff(options).verdict;
  }

  test::Folder folder_;
  const RunRecords run_ = test::simulate(kShape);
};

TEST_F(Diff, EqualRunsAreTheSame) {
  test::write_run(a(), kShape, run_);
  test::write_run(b(), kShape, run_);
  EXPECT_EQ(verdict(false), Verdict::same);
  EXPECT_EQ(verdict(true), Verdict::same);
  EXPECT_EQ(diff().operations, std::uint64_t{4} * 20 * 20);
}

/// A run in which ranks did not tell each other who they are, as natively.
void write_without_members(const std::string& folder, const RunRecords& run) {
  for (std::uint32_t rank = 0; rank < run.size(); ++rank) {
    std::map<std::uint64_t, std::uint64_t> keys;
    trace::Writer writer({folder}, perf::run_info_of(kShape, rank));
    for (trace::Communicator c : perf::communicators_of(kShape, rank)) {
      const std::uint64_t before = c.key;
      c.members.clear();
      c.key = keys[before] = trace::communicator_key(c);
      writer.add_communicator(c);
    }
    for (trace::Record record : run[rank]) {
      record.communicator = keys.at(record.communicator);
      writer.append({&record, 1});
    }
  }
}

TEST_F(Diff, CommunicatorsOfUnknownMembersAreRecognised) {
  test::write_run(a(), kShape, run_);
  write_without_members(b(), run_);
  for (const bool full : {false, true})
    EXPECT_EQ(verdict(full), Verdict::same);
  EXPECT_EQ(trace::diff_runs(b(), a(), std::nullopt, {}).verdict, Verdict::same);
  trace::DiffOptions steps;
  steps.steps = true;
  const trace::RunDiff with_steps = diff(steps);
  for (const trace::StepAgreement& step : with_steps.ranks.at(1).steps)
    EXPECT_EQ(step.agreement, trace::Agreement::same);
  ASSERT_FALSE(with_steps.ranks.at(1).notes.empty());
  EXPECT_NE(with_steps.ranks[1].notes[0].find("members"), std::string::npos);

  RunRecords other = run_;
  other[2][150].output.low ^= 1;
  std::filesystem::remove_all(b());
  write_without_members(b(), other);
  const trace::RunDiff found = diff();
  ASSERT_EQ(found.findings.size(), 1U);
  EXPECT_EQ(found.findings[0].candidate.rank, 2U);
  EXPECT_EQ(found.findings[0].candidate.operation().sequence, 150U);
  EXPECT_EQ(found.findings[0].candidate.difference, Difference::outputs_differ);
}

TEST_F(Diff, TimesPhasesAndFlagsAreNotCompared) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  for (Records& records : other) {
    for (trace::Record& r : records) {
      r.flags ^= trace::kGraph | trace::kInPlace | trace::kOurs;
      r.start_ns += 17;
      r.phase = 1;
      r.stream = 9;
    }
  }
  test::write_run(b(), kShape, other);
  EXPECT_EQ(verdict(false), Verdict::same);
  EXPECT_EQ(verdict(true), Verdict::same);
}

TEST_F(Diff, CommunicatorsMayInterleaveOtherwise) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  for (Records& records : other) {
    for (std::size_t i = 0; i + 1 < records.size(); i += 2) {
      if (records[i].communicator == records[i + 1].communicator) continue;
      if (records[i].step == records[i + 1].step) std::swap(records[i], records[i + 1]);
    }
    test::renumber(records);
  }
  test::write_run(b(), kShape, other);
  EXPECT_EQ(verdict(false), Verdict::same);
  EXPECT_EQ(verdict(true), Verdict::same);
}

TEST_F(Diff, AResumedRunIsTheSame) {
  test::write_run(a(), kShape, run_);
  // The first process dies in step 13, the second goes on from the checkpoint of step 10; it numbers its
  // operations from 0, and sets up before its first step.
  RunRecords first = run_, second = run_;
  for (Records& records : first) {
    records.resize(13 * 20 + 7);
  }
  for (Records& records : second) {
    records.erase(records.begin(), records.begin() + 9 * 20);
    for (std::size_t i = 0; i < 20; ++i) {
      records[i].step = trace::kNoStep;
      records[i].input.low ^= 77;
    }
    test::renumber(records);
  }
  test::write_run(b(), kShape, first);
  test::write_run(b(), kShape, second);
  EXPECT_EQ(verdict(false), Verdict::same);
  EXPECT_EQ(verdict(true), Verdict::same);
  EXPECT_EQ(diff().operations, std::uint64_t{4} * 20 * 20);

  second[2][20 + 20 * 4 + 3].output.low ^= 1;  // step 14
  std::filesystem::remove_all(b());
  test::write_run(b(), kShape, first);
  test::write_run(b(), kShape, second);
  const trace::RunDiff result = diff();
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].candidate.rank, 2U);
  EXPECT_EQ(result.findings[0].candidate.step(), 14U);
  EXPECT_EQ(result.findings[0].candidate.difference, Difference::outputs_differ);
}

TEST_F(Diff, StepsAfterTheLastAreNotLookedAt) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  other[1][20 * 11 + 1].input.low ^= 1;
  test::write_run(b(), kShape, other);
  trace::DiffOptions options;
  for (const bool full : {false, true}) {
    options.ignore_rollups = full;
    options.until = 10;
    EXPECT_EQ(diff(options).verdict, Verdict::same);
    options.until = 11;
    EXPECT_EQ(diff(options).verdict, Verdict::different);
  }
}

TEST_F(Diff, AShorterRunLacksOperations) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  for (Records& records : other) {
    records.resize(records.size() - 3);
  }
  test::write_run(b(), kShape, other);
  for (const bool full : {false, true}) {
    trace::DiffOptions options;
    options.ignore_rollups = full;
    const trace::RunDiff result = diff(options);
    ASSERT_EQ(result.findings.size(), 4U);
    EXPECT_EQ(result.findings[0].candidate.difference, Difference::missing);
    EXPECT_EQ(result.findings[0].candidate.operation().sequence, 397U);
    EXPECT_TRUE(result.findings[0].candidate.after_end);
  }
}

TEST_F(Diff, AKilledRunIsComparedUpToItsEnd) {
  test::write_run(a(), kShape, run_);
  test::write_run(b(), kShape, run_);
  const std::string cut = b() + "/rank-00001.dtr";
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 64);
  const trace::RunDiff result = diff();
  EXPECT_EQ(result.verdict, Verdict::same);
  ASSERT_EQ(result.ranks[1].notes.size(), 1U);
  EXPECT_EQ(result.ranks[1].notes[0], "B was cut short; compared up to there");
}

TEST_F(Diff, OfAKilledRunOnlyWhatIsThereCounts) {
  test::write_run(a(), kShape, run_);
  const auto write = [this](std::size_t there) {
    std::filesystem::remove_all(b());
    RunRecords killed = run_;
    killed[1].resize(there);
    test::write_run(b(), kShape, killed);
    const std::string cut = b() + "/rank-00001.dtr";
    std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 64);
  };
  write(150);
  for (const bool full : {false, true}) {
    trace::DiffOptions options;
    options.ignore_rollups = full;
    options.steps = true;
    const auto steps = diff(options).ranks.at(1).steps;
    EXPECT_EQ(steps.at(6).agreement, trace::Agreement::same);
    EXPECT_EQ(steps.at(7).agreement, trace::Agreement::only_a) << "ten of its operations are not there";
    EXPECT_EQ(diff(options).operations, std::uint64_t{3} * 20 * 20 + 150);
    EXPECT_EQ(diff(options).verdict, Verdict::same);
  }
  write(0);
  EXPECT_EQ(diff().verdict, Verdict::unusable);
  EXPECT_EQ(diff().reason, "rank 1: no operation is in both");
}

TEST_F(Diff, WhatIsLostBetweenAKilledRunAndItsContinuationIsNotMissing) {
  test::write_run(a(), kShape, run_);
  const auto write = [this](std::size_t first_ends, std::size_t second_begins, bool fault) {
    std::filesystem::remove_all(b());
    RunRecords first = run_, second = run_;
    for (Records& records : first)
      records.resize(first_ends);
    if (fault) second[2][14 * 20 + 3].output.low ^= 1;
    for (Records& records : second) {
      records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(second_begins));
      test::renumber(records);
    }
    test::write_run(b(), kShape, first);
    for (std::uint32_t rank = 0; rank < kShape.ranks; ++rank) {
      const std::string file = b() + "/" + trace::part_name(rank, 0);
      std::filesystem::resize_file(file, std::filesystem::file_size(file) - 64);
    }
    test::write_run(b(), kShape, second);
  };
  // What was not flushed, of steps 10 and 11, is nowhere.
  write(10 * 20 + 7, 12 * 20, false);
  for (const bool full : {false, true}) {
    trace::DiffOptions options;
    options.ignore_rollups = full;
    const trace::RunDiff result = diff(options);
    EXPECT_EQ(result.verdict, Verdict::same);
    EXPECT_EQ(result.ranks[1].notes, std::vector<std::string>{"B was cut short; compared up to there"});
  }
  // Nothing is missing, as the rollups show.
  write(12 * 20, 12 * 20, false);
  EXPECT_EQ(verdict(false), Verdict::same);
  EXPECT_EQ(diff().operations, std::uint64_t{4} * 20 * 20);
  write(12 * 20, 12 * 20, true);
  EXPECT_EQ(diff().findings.size(), 1U);
}

TEST_F(Diff, WhatWasLostIsNotMissing) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  other[3].erase(other[3].begin() + 200, other[3].begin() + 210);  // with their sequence numbers
  test::write_run(b(), kShape, other);
  const trace::RunDiff result = diff();
  EXPECT_EQ(result.verdict, Verdict::same);
  EXPECT_EQ(result.ranks[3].notes.at(0), "B lost records while it was traced; compared up to there");
}

TEST_F(Diff, WhatCannotBeComparedIsNotTheSame) {
  test::write_run(a(), kShape, run_);
  EXPECT_EQ(diff().verdict, Verdict::unusable);  // no B
  perf::Shape larger = kShape;
  larger.ranks = 6;
  test::write_run(b(), larger, test::simulate(larger));
  EXPECT_EQ(diff().verdict, Verdict::unusable);
  std::filesystem::remove_all(b());
  test::write_run(b(), kShape, run_);
  std::filesystem::remove(b() + "/rank-00002.dtr");
  const trace::RunDiff result = diff();
  EXPECT_EQ(result.verdict, Verdict::unusable);
  EXPECT_EQ(result.only_a, std::vector<std::uint32_t>{2});
}

TEST_F(Diff, StepsOfTheMap) {
  test::write_run(a(), kShape, run_);
  RunRecords other = run_;
  other[1][20 * 11 + 1].input.low ^= 1;
  other[1].resize(20 * 19);
  test::write_run(b(), kShape, other);
  trace::DiffOptions options;
  options.steps = true;
  const trace::RunDiff result = diff(options);
  ASSERT_EQ(result.ranks[1].steps.size(), 20U);
  for (const trace::StepAgreement& s : result.ranks[1].steps) {
    const auto expected = s.step == 11   ? trace::Agreement::different
                          : s.step == 19 ? trace::Agreement::only_a
                                         : trace::Agreement::same;
    EXPECT_EQ(s.agreement, expected) << s.step;
  }
}

TEST_F(Diff, ChunkTablesGiveBytes) {
  for (const bool second : {false, true}) {
    trace::Writer writer({second ? b() : a()}, perf::run_info_of(kShape, 0));
    for (std::uint64_t sequence = 0; sequence < 3; ++sequence) {
      trace::ChunkTable table{sequence, 1000, 64, true, {}};
      for (std::uint64_t chunk = 0; chunk < 16; ++chunk) {
        table.digests.push_back({chunk, sequence});
      }
      trace::Record record;
      record.sequence = sequence;
      record.output = {sequence, 1};
      if (second && sequence == 1) {
        table.digests[3].low ^= 1;
        table.digests[4].low ^= 1;
        table.digests[15].high ^= 1;
        record.output.low ^= 99;
      }
      writer.add_chunk_table(table);
      writer.append({&record, 1});
    }
  }
  const trace::RunDiff result = diff();
  ASSERT_EQ(result.findings.size(), 1U);
  const auto& ranges = result.findings[0].candidate.ranges;
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].begin, 192U);
  EXPECT_EQ(ranges[0].end, 320U);
  EXPECT_EQ(ranges[1].begin, 960U);
  EXPECT_EQ(ranges[1].end, 1000U);
}

}  // namespace
