// SPDX-License-Identifier: Apache-2.0
// The detccl binary: `detccl trace`, as a user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "support/command.h"
#include "trace_generator/synthetic_run.h"

namespace {

using namespace detccl;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TraceCommand : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kWrongRank = 2;
  const perf::Shape shape_{4, 6, 20, 2, 0};
  test::Folder folder_;
  const std::string a_ = folder_.file("a"), b_ = folder_.file("b");

  void SetUp() override {
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      auto records = perf::operations_of(shape_, rank);
      perf::fill_digests(records, rank, 1);
      perf::write_rank(a_, shape_, rank, records);
      if (rank == kWrongRank) records[71].input.high ^= 1;
      perf::write_rank(b_, shape_, rank, records);
    }
  }

  static test::Outcome trace(const std::string& arguments) {
    return test::run(DETCCL_BINARY " trace " + arguments);
  }
};

TEST_F(TraceCommand, DiffTellsByItsExitStatus) {
  EXPECT_EQ(trace("diff " + a_ + " " + a_).exit_code, 0);
  EXPECT_EQ(trace("diff " + a_ + " " + b_).exit_code, 1);
  EXPECT_EQ(trace("diff --full " + a_ + " " + b_).exit_code, 1);
  EXPECT_EQ(trace("diff --rank 1 " + a_ + " " + b_).exit_code, 0);
  EXPECT_EQ(trace("diff --until 2 " + a_ + " " + b_).exit_code, 0);
  EXPECT_EQ(trace("diff --until 3 " + a_ + " " + b_).exit_code, 1);
  EXPECT_EQ(trace("diff " + a_ + " " + folder_.file("none")).exit_code, 2);
  EXPECT_EQ(trace("diff --rank 9 " + a_ + " " + b_).exit_code, 2);
  EXPECT_EQ(trace("diff " + a_).exit_code, 2);
  EXPECT_EQ(trace("diff " DETCCL_BINARY " " + a_).exit_code, 2);
}

TEST_F(TraceCommand, DiffSaysWhere) {
  const test::Outcome o = trace("diff " + a_ + " " + b_);
  EXPECT_TRUE(contains(o.output, "1 of 4 ranks differ")) << o.output;
  EXPECT_TRUE(contains(o.output, "rank 2, step 3, backward: all_reduce 21 on tensor_parallel (record 71)"))
      << o.output;
  EXPECT_TRUE(contains(o.output, "inputs differ: all_reduce of 12288 bfloat16, sum")) << o.output;
}

TEST_F(TraceCommand, DiffInJson) {
  const test::Outcome o = trace("diff --json " + a_ + " " + b_);
  const json diff = json::parse(o.output);
  EXPECT_EQ(diff["verdict"], "different");
  EXPECT_EQ(diff["ranks"], 4);
  ASSERT_EQ(diff["findings"].size(), 1U);
  const json& finding = diff["findings"][0];
  EXPECT_EQ(finding["rank"], 2);
  EXPECT_EQ(finding["step"], 3);
  EXPECT_EQ(finding["phase"], "backward");
  EXPECT_EQ(finding["class"], "inputs_differ");
  EXPECT_EQ(finding["cause"], true);
  EXPECT_EQ(finding["a"]["record_id"], 71);
  EXPECT_EQ(finding["a"]["profiling_name"], "nccl:all_reduce");
  EXPECT_EQ(finding["a"]["input_sizes"], json::parse("[[12288]]"));
  EXPECT_EQ(finding["a"]["input_dtypes"], json::parse(R"(["BFloat16"])"));
  EXPECT_EQ(finding["a"]["pg_name"], "tensor_parallel");
  EXPECT_NE(finding["a"]["input_digest"], finding["b"]["input_digest"]);
  EXPECT_EQ(finding["a"]["output_digest"], finding["b"]["output_digest"]);
}

TEST_F(TraceCommand, DiffAsAPage) {
  const std::string page_file = folder_.file("diff.html");
  EXPECT_EQ(trace("diff --html " + page_file + " " + a_ + " " + b_).exit_code, 1);
  const std::string page = read(page_file);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_FALSE(contains(page, "http:") || contains(page, "https:") || contains(page, "src="));
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["steps"].size(), 6U);
  EXPECT_EQ(data["rows"][0], json::parse("[6, 0]"));
  EXPECT_EQ(data["rows"][kWrongRank], json::parse("[3, 0, 1, 1, 2, 0]"));
  EXPECT_EQ(data["findings"][0]["operation"], "all_reduce 21 on tensor_parallel");
  EXPECT_TRUE(data["notes"].empty());
}

TEST_F(TraceCommand, ThePageTellsWhatCouldNotBeCompared) {
  const std::string cut = b_ + "/rank-00001.dtr", page_file = folder_.file("cut.html");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1);
  EXPECT_EQ(trace("diff --rank 1 --html " + page_file + " " + a_ + " " + b_).exit_code, 0);
  EXPECT_TRUE(contains(read(page_file), R"("notes":["rank 1: B was cut short; compared up to there"])"));
}

TEST_F(TraceCommand, LsListsRanks) {
  std::filesystem::resize_file(b_ + "/rank-00003.dtr",
                               std::filesystem::file_size(b_ + "/rank-00003.dtr") - 1);
  const json list = json::parse(trace("ls --json " + b_).output);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[1]["operations"], 120);
  EXPECT_EQ(list[1]["communicators"], 3);
  EXPECT_EQ(list[1]["first_step"], 0);
  EXPECT_EQ(list[1]["last_step"], 5);
  EXPECT_EQ(list[1]["whole"], true);
  EXPECT_EQ(list[3]["whole"], false);
  EXPECT_EQ(list[3]["operations"], 120);
  const std::string text = trace("ls " + b_).output;
  EXPECT_TRUE(contains(text, "truncated")) << text;
}

TEST_F(TraceCommand, LsNotesWhatIsOddAboutTheRanks) {
  EXPECT_FALSE(contains(trace("ls " + a_).output, "note:"));
  std::filesystem::remove(a_ + "/rank-00002.dtr");
  EXPECT_TRUE(contains(trace("ls " + a_).output, "note: 1 of the job's 4 ranks have no file\n"));
  perf::Shape larger = shape_;
  larger.ranks = 6;
  perf::write_rank(a_, larger, 5, perf::operations_of(larger, 5));
  EXPECT_TRUE(contains(trace("ls " + a_).output, "note: these are files of jobs of 4 and 6 ranks"))
      << trace("ls " + a_).output;
}

TEST_F(TraceCommand, ShowFilters) {
  const std::string text =
      trace("show --rank 1 --steps 2-3 --communicator world --operation all_reduce " + a_).output;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;  // a headline, and two a step
  EXPECT_EQ(trace("show --steps 3-2 " + a_).exit_code, 2);
  EXPECT_EQ(trace("show --rank 9 " + a_).exit_code, 2);
  EXPECT_EQ(trace("export --format csv --rank 9 --out " + folder_.file("none.csv") + " " + a_).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("none.csv")));
  EXPECT_EQ(trace("show --operation juggle " + a_).exit_code, 2);
}

TEST_F(TraceCommand, ShowAndLsTellWhatWasLost) {
  const std::string folder = folder_.file("lost");
  auto records = perf::operations_of(shape_, 1);
  records.erase(records.begin() + 5, records.begin() + 8);
  perf::write_rank(folder, shape_, 1, records);
  EXPECT_TRUE(contains(trace("show " + folder).output, "    1 lost 3 records while it was traced\n"));
  EXPECT_TRUE(contains(trace("ls " + folder).output, "3 lost"));
  EXPECT_FALSE(contains(trace("show " + a_).output, "lost"));
}

TEST_F(TraceCommand, SealKeepsTheTrace) {
  EXPECT_EQ(trace("seal " + b_).exit_code, 0);
  EXPECT_EQ(trace("seal " + b_).exit_code, 0);
  EXPECT_EQ(trace("diff --rank 1 " + a_ + " " + b_).exit_code, 0);
  EXPECT_EQ(trace("diff --full --rank 1 " + a_ + " " + b_).exit_code, 0);
  EXPECT_EQ(trace("diff " + a_ + " " + b_).exit_code, 1);
}

TEST_F(TraceCommand, ExportsJsonl) {
  const std::string out = folder_.file("jsonl");
  ASSERT_EQ(trace("export --format jsonl --out " + out + " " + a_).exit_code, 0);
  EXPECT_EQ(trace("export --format jsonl --out " + out + " " + a_).exit_code, 2) << "nothing is overwritten";
  std::istringstream lines(read(out + "/rank_000002.jsonl"));
  std::set<std::tuple<int, std::string, std::string, int>> keys;
  int expected = 0;
  for (std::string line; std::getline(lines, line); ++expected) {
    const json record = json::parse(line);
    EXPECT_EQ(record["schema_version"], 1);
    EXPECT_EQ(record["event"], "event");
    EXPECT_EQ(record["rank"], 2);
    EXPECT_EQ(record["sequence"], expected);
    EXPECT_EQ(record["iteration"], expected / 20);
    EXPECT_TRUE(record["microbatch"].is_null());
    EXPECT_TRUE(record["fields"].is_object());
    keys.emplace(record["iteration"], record["phase"], record["name"], record["occurrence"]);
  }
  EXPECT_EQ(expected, 120);
  EXPECT_EQ(keys.size(), 120U) << "the comparison tool wants each once";
}

/// As replays of a CUDA graph have the step that it was captured in.
TEST_F(TraceCommand, ExportsJsonlOfStepsThatComeAgain) {
  auto records = perf::operations_of(shape_, 0);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].step = i % 3 == 0 ? 1 : records[i].step;
  const std::string folder = folder_.file("again"), out = folder_.file("jsonl");
  perf::write_rank(folder, shape_, 0, records);
  ASSERT_EQ(trace("export --format jsonl --out " + out + " " + folder).exit_code, 0);
  std::istringstream lines(read(out + "/rank_000000.jsonl"));
  std::set<std::tuple<int, std::string, std::string, int>> keys;
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line);
    keys.emplace(record["iteration"], record["phase"], record["name"], record["occurrence"]);
    for (const char* name :
         {"in_place", "deterministic", "graph", "group", "record_id", "start_ns", "stream"})
      EXPECT_FALSE(record["fields"].contains(name)) << name << ": diff does not compare it";
  }
  EXPECT_EQ(keys.size(), records.size()) << "the comparison tool wants each once";
}

TEST_F(TraceCommand, ExportsNoEmptyJsonl) {
  const std::string out = folder_.file("jsonl");
  EXPECT_EQ(trace("export --format jsonl --steps 77 --out " + out + " " + a_).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(out)) << "the comparison tool refuses files without records";
}

TEST_F(TraceCommand, SealGoesOnAfterADamagedFile) {
  const std::string file = b_ + "/rank-00000.dtr";
  const std::string bytes = read(file);
  std::string damaged = bytes;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << damaged;
  const test::Outcome o = trace("seal " + b_);
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(contains(o.output, "damaged; it is left as it is")) << o.output;
  EXPECT_TRUE(contains(o.output, "sealed 3 files")) << o.output;
  EXPECT_EQ(read(file), damaged);
}

TEST_F(TraceCommand, ExportsChromeAndCsv) {
  const std::string chrome = folder_.file("chrome.json"), csv = folder_.file("all.csv");
  ASSERT_EQ(trace("export --format chrome --out " + chrome + " " + a_).exit_code, 0);
  const json events = json::parse(read(chrome))["traceEvents"];
  EXPECT_EQ(events.size(), 4U * 121);
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_EQ(events[2]["ts"], 50.0);
  EXPECT_EQ(events[2]["dur"], 21.0);
  ASSERT_EQ(trace("export --format csv --rank 3 --out " + csv + " " + a_).exit_code, 0);
  const std::string table = read(csv);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 121);
  EXPECT_TRUE(contains(table, "\n3,2,0,\"forward\",\"world\",")) << table;
  EXPECT_EQ(trace("export --format csv --out " + csv + " " + a_).exit_code, 2);
  EXPECT_EQ(trace("export --format xml --out x " + a_).exit_code, 2);
}

TEST_F(TraceCommand, ExportsWhatAGraphReplayedWithoutAStart) {
  auto records = perf::operations_of(shape_, 0);
  for (trace::Record& record : records) {
    record.flags |= trace::kGraph;
    record.start_ns = 0;
    record.duration_ns = 1500;
  }
  const std::string graph = folder_.file("graph"), chrome = folder_.file("chrome.json");
  perf::write_rank(graph, shape_, 0, records);
  ASSERT_EQ(trace("export --format chrome --out " + chrome + " " + graph).exit_code, 0);
  const json events = json::parse(read(chrome))["traceEvents"];
  ASSERT_EQ(events.size(), 121U);
  EXPECT_EQ(events[8]["ts"], 7.0) << "a microsecond apart";
  EXPECT_EQ(events[8]["dur"], 1.5);
}

}  // namespace
