// SPDX-License-Identifier: Apache-2.0
// `detccl report` on the committed results, on files that are none, and in a browser where there is one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/command.h"

namespace detccl::test {
namespace {

using nlohmann::json;

const std::string kResults = DETCCL_PERF_RESULTS "/";
constexpr const char* kSweeps[] = {"host_all_reduce_n2.json", "host_all_reduce_n4.json",
                                   "gpu_table_socket_n4.json", "gpu_sweep_socket_n8.json",
                                   "gpu_sweep_p2p_n8.json"};

std::string all_sweeps() {
  std::string files;
  for (const char* name : kSweeps)
    files += " " + kResults + name;
  return files;
}

std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// The sweeps' documents, whatever is around them.
std::vector<json> documents(const json& file) {
  if (file.contains("results")) return {file};
  std::vector<json> found;
  for (const json& part : file.at(file.contains("runs") ? "runs" : "sweeps"))
    found.push_back(part.at("document"));
  return found;
}

class Report : public testing::Test {
 protected:
  Outcome report(const std::string& arguments) const {
    return run(DETCCL_BINARY " report -o " + page_ + " " + arguments);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name)) << text;
    return folder_.file(name);
  }
  /// One line that names the file, and no page.
  void expect_refused(const std::string& file, const std::string& why) const {
    const Outcome outcome = report(kResults + "host_all_reduce_n2.json " + file);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_EQ(count(outcome.output, "\n"), 1u) << outcome.output;
    EXPECT_NE(outcome.output.find(file), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find(why), std::string::npos) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(page_));
  }

  const Folder folder_;
  const std::string page_ = folder_.file("page.html");
};

TEST_F(Report, HasEveryRowOfTheCommittedResults) {
  const Outcome outcome = report(all_sweeps());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::string page = contents(page_);
  std::size_t rows = 0;
  for (const char* name : kSweeps) {
    for (const json& document : documents(json::parse(contents(kResults + name)))) {
      for (const json& row : document.at("results")) {
        const json& ratio = row.at("ratio");
        const bool has_bounds = ratio.contains("low");
        const std::string cells = fmt::format(
            "<td class=\"n\">{:.1f}</td><td class=\"n\">{:.1f}</td><td class=\"n\">{:.3f}</td>"
            "<td class=\"n\">{:.3f}</td><td class=\"n\">{:.3f}</td>",
            row.at("peer_time_us").at("median").get<double>(), row.at("time_us").at("median").get<double>(),
            ratio.at("median").get<double>(), ratio.at(has_bounds ? "low" : "min").get<double>(),
            ratio.at(has_bounds ? "high" : "max").get<double>());
        EXPECT_NE(page.find(cells), std::string::npos) << name << ": " << row;
        EXPECT_NE(page.find(fmt::format("<td class=\"n\">{}</td>", row.at("bytes").get<std::uint64_t>())),
                  std::string::npos);
        ++rows;
      }
    }
  }
  const std::string table = page.substr(page.find("All rows"));
  EXPECT_EQ(count(table, "<tr><td>"), rows);
  EXPECT_NE(outcome.output.find(fmt::format("{} rows", rows)), std::string::npos) << outcome.output;
  for (const char* part :
       {"NVIDIA H200, p2p bench", "580.159.04", "NCCL 2.30.7", "2026-11-30T02:59:05Z", "bc2f85211f67",
        "contract tree", "DETCCL_CHUNK=64M DETCCL_SCRATCH=256M", "Open MPI"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(Report, DrawsEveryMedianOnceAndInsideItsBand) {
  ASSERT_EQ(report(kResults + "gpu_table_socket_n4.json").exit_code, 0);
  const std::string page = contents(page_);
  // Two collectives, each 9 sizes under 3 schedules: overhead, and busbw of both libraries.
  EXPECT_EQ(count(page, "<svg viewBox=\"0 0 560"), 4u);
  EXPECT_EQ(count(page, "<circle"), 2u * 9 * 3 * 3);
  EXPECT_EQ(count(page, "<polygon"), 2u * 3);
  // Every coordinate lies within the view box: nothing is cut off, nothing is NaN.
  const std::regex circle("cx=\"([^\"]+)\" cy=\"([^\"]+)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), circle), end; at != end; ++at) {
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]);
    EXPECT_TRUE(x > 62 && x < 542 && y >= 34 && y <= 278) << (*at)[0];
  }
}

TEST_F(Report, LoadsNothingAndRunsNothing) {
  ASSERT_EQ(report(all_sweeps()).exit_code, 0);
  const std::string page = contents(page_);
  for (const char* part : {"http:", "https:", "<script", "src=", "@import", "url(", "<link"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST_F(Report, BusbwIsTheTimesWhereTheFileHasNone) {
  // AllReduce over 4 ranks, 64 MB in 10 ms: 6.7 GB/s, times 2 x 3 / 4.
  json sweep = json::parse(contents(kResults + "host_all_reduce_n4.json"));
  const json row = sweep["results"][0];
  sweep["results"] = json::array({row});
  json& only = sweep["results"][0];
  only["bytes"] = 67108864;
  only["time_us"] = {{"min", 9000}, {"median", 10000}, {"max", 11000}};
  only.erase("busbw_gb_s");
  ASSERT_EQ(report(write("sweep.json", sweep.dump())).exit_code, 0);
  EXPECT_NE(contents(page_).find("<td class=\"n\">10.066</td></tr>"), std::string::npos);
}

TEST_F(Report, WrongBitsAndFailuresAreTold) {
  json sweep = json::parse(contents(kResults + "host_all_reduce_n2.json"));
  sweep["results"][2]["wrong"] = 1;
  const json failure = {
      {"schedule", "ring"}, {"datatype", "float"}, {"op", "sum"}, {"bytes", 4096}, {"reason", "a <b> c"}};
  sweep["failures"] = json::array({failure});
  ASSERT_EQ(report(write("sweep.json", sweep.dump()) + " --title 'A & B'").exit_code, 0);
  const std::string page = contents(page_);
  EXPECT_NE(page.find("the bits of 1 are not the contract"), std::string::npos);
  EXPECT_EQ(count(page, "class=\"bad\">WRONG</td>"), 1u);
  EXPECT_NE(page.find("schedule ring, float, 4096 bytes: a &lt;b&gt; c"), std::string::npos);
  EXPECT_NE(page.find("<title>A &amp; B</title>"), std::string::npos);
}

TEST_F(Report, TheSameSweepTwiceIsTwoLines) {
  const std::string text = contents(kResults + "host_all_reduce_n2.json");
  ASSERT_EQ(report(write("monday.json", text) + " " + write("tuesday.json", text)).exit_code, 0);
  const std::string page = contents(page_);
  EXPECT_NE(page.find("auto, monday.json"), std::string::npos);
  EXPECT_NE(page.find("auto, tuesday.json"), std::string::npos);
  EXPECT_EQ(count(page, "<h2>all_reduce"), 1u);
}

TEST_F(Report, RefusesWhatIsNoResult) {
  const std::string good = contents(kResults + "gpu_sweep_p2p_n8.json");
  expect_refused(write("empty.json", ""), "empty");
  expect_refused(folder_.file("missing.json"), "cannot be read");
  expect_refused(write("text.json", "hello"), "not JSON");
  expect_refused(write("short.json", good.substr(0, good.size() / 2)), "not JSON");
  expect_refused(write("list.json", "[1, 2]"), "has no format");
  expect_refused(kResults + "fold_h200.json", "has no format");
  expect_refused(write("newer.json", R"({"format": "detccl-perf-9"})"), "unknown format \"detccl-perf-9\"");
  expect_refused(write("nothing.json", R"({"format": "detccl-perf-2"})"),
                 "damaged: key 'collective' not found");
  json sweep = json::parse(contents(kResults + "host_all_reduce_n2.json"));
  sweep["results"][3]["time_us"]["median"] = -1;
  expect_refused(write("negative.json", sweep.dump()), "damaged: median is -1");
  sweep["results"][3]["time_us"]["median"] = "fast";
  expect_refused(write("type.json", sweep.dump()), "damaged: type must be number");
}

TEST_F(Report, OverwritesOnlyWhenTold) {
  const std::string sweep = kResults + "host_all_reduce_n2.json";
  write("page.html", "mine");
  const Outcome refused = report(sweep);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("--force"), std::string::npos) << refused.output;
  EXPECT_EQ(contents(page_), "mine");
  EXPECT_EQ(report("--force " + sweep).exit_code, 0);
  EXPECT_NE(contents(page_).find("<svg"), std::string::npos);
}

// What a browser makes of the page: every chart laid out, and no text in it outside its frame or over another
// one.
TEST_F(Report, ABrowserDrawsIt) {
  const std::string browser = run("sh -c 'command -v chromium || command -v chromium-browser'").output;
  if (browser.empty()) GTEST_SKIP() << "no Chromium here";
  ASSERT_EQ(report(all_sweeps()).exit_code, 0);
  // The page has no script; this one goes into a copy and leaves what it measured in the document.
  constexpr const char* kMeasure = R"js(<script>
    let charts = 0, cut = [], over = [];
    for (const svg of document.querySelectorAll('.charts svg')) {
      const frame = svg.getBoundingClientRect();
      if (frame.width > 300 && frame.height > 150 && svg.querySelector('circle').getBoundingClientRect().width > 2) ++charts;
      const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
      for (const [name, box] of texts) {
        if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) cut.push(name);
        for (const [other, b] of texts)
          if (other !== name && box.left < b.right && b.left < box.right && box.top < b.bottom && b.top < box.bottom) over.push(name);
      }
    }
    document.title = 'charts ' + charts + ' cut [' + cut + '] over [' + over + ']';
  </script>)js";
  const std::string measured = write("measured.html", contents(page_) + kMeasure);
  const std::string command =
      browser.substr(0, browser.find('\n')) +
      " --headless --no-sandbox --disable-gpu --window-size=1300,1000 --user-data-dir=" +
      folder_.file("profile") + " --dump-dom file://" + measured + " 2>/dev/null";
  const std::string drawn = run(command).output;
  const std::size_t charts = count(contents(page_), "<svg viewBox=\"0 0 560");
  EXPECT_GE(charts, 10u);
  EXPECT_NE(drawn.find(fmt::format("<title>charts {} cut [] over []</title>", charts)), std::string::npos)
      << drawn.substr(drawn.find("<title>"), 600);
}

}  // namespace
}  // namespace detccl::test
