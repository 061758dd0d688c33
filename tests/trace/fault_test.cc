// SPDX-License-Identifier: Apache-2.0
// Faults at random places: the diff names rank, operation and class, and the cause where faults spread.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "simulated_run.h"
#include "support/command.h"
#include "trace/diff.h"

namespace {

using namespace detccl;
using test::Records;
using test::RunRecords;
using trace::Difference;
using trace::Record;
using trace::Verdict;

const perf::Shape kShape{8, 6, 20, 4, 0};

trace::RunDiff diff(const std::string& a, const std::string& b) {
  return trace::diff_runs(a, b, std::nullopt, {});
}

unsigned fresh_seed() {
  const unsigned seed = std::random_device{}();
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  std::printf("seed %u\n", seed);
  return seed;
}

enum class Fault { input_bit, output_bit, permuted_input, skipped, swapped, wrong_type, wrong_count, extra };
constexpr int kFaults = 8;

Difference class_of(Fault fault) {
  switch (fault) {
    case Fault::input_bit:
    case Fault::permuted_input:
      return Difference::inputs_differ;
    case Fault::output_bit:
      return Difference::outputs_differ;
    case Fault::skipped:
      return Difference::missing;
    case Fault::extra:
      return Difference::extra;
    case Fault::swapped:
      return Difference::reordered;
    case Fault::wrong_type:
    case Fault::wrong_count:
      return Difference::mismatch;
  }
  return Difference::mismatch;
}

/// The next operation on the same communicator; records.size() if there is none.
std::size_t next_on_communicator(const Records& records, std::size_t place) {
  std::size_t next = place + 1;
  while (next < records.size() && records[next].communicator != records[place].communicator) {
    ++next;
  }
  return next;
}

/// False where this fault cannot happen to this operation.
bool inject(Records& records, std::size_t place, Fault fault, std::mt19937& random) {
  Record& r = records[place];
  const std::uint64_t bit = std::uint64_t{1} << random() % 64;
  switch (fault) {
    case Fault::input_bit:
    case Fault::permuted_input:
      if ((r.flags & trace::kNoInput) != 0) return false;
      if (fault == Fault::input_bit) {
        (random() % 2 == 0 ? r.input.low : r.input.high) ^= bit;
      } else {
        std::swap(r.input.low, r.input.high);
      }
      return true;
    case Fault::output_bit:
      if ((r.flags & trace::kNoOutput) != 0) return false;
      (random() % 2 == 0 ? r.output.low : r.output.high) ^= bit;
      return true;
    case Fault::skipped:
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(place));
      break;
    case Fault::extra: {
      Record more = r;
      more.input.low ^= bit;
      more.output.low += 1;
      more.count += 1;
      records.insert(records.begin() + static_cast<std::ptrdiff_t>(place), more);
      break;
    }
    case Fault::swapped: {
      const std::size_t next = next_on_communicator(records, place);
      if (next == records.size() || records[next].step != r.step) return false;
      std::swap(r, records[next]);
      break;
    }
    case Fault::wrong_type:
      r.type = r.type == 7 ? 9 : 7;
      return true;
    case Fault::wrong_count:
      r.count -= 1;
      return true;
  }
  test::renumber(records);
  return true;
}

TEST(Faults, RankOperationAndClassAreRightEveryTime) {
  std::mt19937 random(fresh_seed());
  const RunRecords good = test::simulate(kShape);
  const test::Folder folder;
  test::write_run(folder.file("a"), kShape, good);
  for (int n = 0; n < 240; ++n) {
    const Fault fault = static_cast<Fault>(n % kFaults);
    RunRecords bad = good;
    std::uint32_t rank = 0;
    std::size_t place = 0;
    do {
      rank = static_cast<std::uint32_t>(random() % kShape.ranks);
      place = random() % good[rank].size();
    } while (!inject(bad[rank], place, fault, random));
    const std::string b = folder.file("b" + std::to_string(n));
    test::write_run(b, kShape, bad);
    const trace::RunDiff result = diff(folder.file("a"), b);
    std::filesystem::remove_all(b);
    SCOPED_TRACE("fault " + std::to_string(n % kFaults) + " on rank " + std::to_string(rank) + " at " +
                 std::to_string(place));
    ASSERT_EQ(result.verdict, Verdict::different);
    ASSERT_EQ(result.findings.size(), 1U);
    const trace::Candidate& c = result.findings[0].candidate;
    EXPECT_EQ(c.rank, rank);
    EXPECT_EQ(c.operation().sequence, place);
    EXPECT_EQ(trace::difference_name(c.difference), trace::difference_name(class_of(fault)));
    EXPECT_EQ(c.step(), (fault == Fault::extra ? bad : good)[rank][place].step);
    EXPECT_EQ(c.phase, perf::kPhases[c.operation().phase - 1]);
    EXPECT_TRUE(result.findings[0].is_cause());
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Faults, TheCauseIsFoundWhereItSpreads) {
  std::mt19937 random(fresh_seed());
  const RunRecords good = test::simulate(kShape);
  const test::Folder folder;
  test::write_run(folder.file("a"), kShape, good);
  for (int n = 0; n < 60; ++n) {
    const auto rank = static_cast<std::uint32_t>(random() % kShape.ranks);
    const bool in_input = n % 2 == 0;
    std::size_t place = 0;
    do {
      place = random() % good[0].size();
    } while ((good[rank][place].flags & (in_input ? trace::kNoInput : trace::kNoOutput)) != 0);
    test::Interference fault;
    const auto flip = [&](std::uint32_t r, std::size_t p, trace::Digest& digest) {
      if (r == rank && p == place) digest.low ^= 1;
    };
    (in_input ? fault.input : fault.output) = flip;
    const std::string b = folder.file("b" + std::to_string(n));
    test::write_run(b, kShape, test::simulate(kShape, fault));
    const trace::RunDiff result = diff(folder.file("a"), b);
    std::filesystem::remove_all(b);
    SCOPED_TRACE(std::string(in_input ? "input" : "output") + " of rank " + std::to_string(rank) + " at " +
                 std::to_string(place));
    ASSERT_EQ(result.verdict, Verdict::different);
    const trace::Finding& first = result.findings.at(0);
    EXPECT_TRUE(first.is_cause());
    EXPECT_EQ(first.candidate.rank, rank);
    EXPECT_EQ(first.candidate.operation().sequence, place);
    EXPECT_EQ(first.candidate.difference, in_input ? Difference::inputs_differ : Difference::outputs_differ);
    for (std::size_t i = 1; i < result.findings.size(); ++i) {
      EXPECT_FALSE(result.findings[i].is_cause()) << "rank " << result.findings[i].candidate.rank;
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Faults, TwoAtOnceAreTwoCauses) {
  const test::Folder folder;
  test::write_run(folder.file("a"), kShape, test::simulate(kShape));
  test::Interference faults;
  faults.input = [](std::uint32_t rank, std::size_t place, trace::Digest& input) {
    if (place == 41 && (rank == 1 || rank == 6)) input.high ^= 4;
  };
  test::write_run(folder.file("b"), kShape, test::simulate(kShape, faults));
  const trace::RunDiff result = diff(folder.file("a"), folder.file("b"));
  std::set<std::uint32_t> causes;
  for (const trace::Finding& f : result.findings) {
    if (f.is_cause()) causes.insert(f.candidate.rank);
  }
  EXPECT_EQ(causes, (std::set<std::uint32_t>{1, 6}));
  EXPECT_EQ(result.findings.size(), kShape.ranks);  // operation 46 is an all_reduce of all
}

TEST(Faults, ACollectiveThatIsWrongEverywhereIsTheCauseItself) {
  const test::Folder folder;
  test::write_run(folder.file("a"), kShape, test::simulate(kShape));
  test::Interference fault;
  fault.output = [](std::uint32_t, std::size_t place, trace::Digest& output) {
    if (place == 26) output.low ^= 1;
  };
  test::write_run(folder.file("b"), kShape, test::simulate(kShape, fault));
  const trace::RunDiff result = diff(folder.file("a"), folder.file("b"));
  ASSERT_EQ(result.findings.size(), kShape.ranks);
  for (const trace::Finding& f : result.findings) {
    EXPECT_TRUE(f.is_cause());
    EXPECT_EQ(f.candidate.operation().sequence, 26U);
    EXPECT_EQ(f.candidate.difference, Difference::outputs_differ);
  }
}

}  // namespace
