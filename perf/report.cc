// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace detccl::perf {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProgress{10};

double median(const Json& row, const char* name) {
  return row.at(name).at("median").get<double>();
}

bool is_wrong(const Json& row) {
  const auto wrong = [&](const char* name) { return row.value(name, "") == "WRONG"; };
  return wrong("bits") || wrong("split") || wrong("communicator");
}

}  // namespace

Report::Report(const Options& options, std::size_t rows)
    : options_(options), expected_(rows), begin_(Clock::now()), last_progress_(begin_) {
  document_ = {{"format", "detccl-perf-2"}};
}

void Report::add(Json record) {
  const std::string kind = record.at("kind");
  record.erase("kind");
  if (kind == "run") {
    if (headed_) return;  // another schedule's: all but the rows is the same
    document_.update(record);
    document_["results"] = Json::array();
    document_["failures"] = document_.value("failures", Json::array());
    headed_ = true;
    print_head();
  } else if (kind == "row") {
    print_row(record);
    document_["results"].push_back(std::move(record));
    print_progress();
  } else if (kind == "failure") {
    std::string what = "schedule " + record.at("schedule").get<std::string>();
    if (record.contains("bytes"))
      what += fmt::format(", {} {}, {} bytes", record.at("datatype").get<std::string>(),
                          record.at("op").get<std::string>(), record.at("bytes").get<std::uint64_t>());
    std::fprintf(stderr, "# FAILED: %s: %s\n", what.c_str(), record.at("reason").get<std::string>().c_str());
    document_["failures"].push_back(std::move(record));
  } else if (const std::string text = record.at("text");
             text != last_warning_) {  // each schedule's processes warn
    std::fprintf(stderr, "# warning: %s\n", text.c_str());
    last_warning_ = text;
  }
  document_["complete"] = false;
  write();
}

int Report::finish() {
  const Json rows = document_.value("results", Json::array());
  const bool failed = !document_.value("failures", Json::array()).empty() || !headed_;
  std::size_t wrong = 0;
  for (const Json& row : rows)
    wrong += is_wrong(row) ? 1U : 0U;
  document_["complete"] = !failed;
  document_["passed"] = !failed && wrong == 0;
  write();
  if (wrong > 0)
    fmt::print("# FAILED: the bits of {} of {} rows are not the contract's\n", wrong, rows.size());
  else if (failed)
    fmt::print("# FAILED: not all could be measured\n");
  else
    fmt::print("# passed\n");
  return wrong > 0 ? 1 : failed ? 2 : 0;
}

void Report::print_head() const {
  const Options& o = options_;
  const Json& d = document_;
  fmt::print("# {}, {} rank(s), {}, {}, contract {}, on NCCL {}\n", d.at("collective").get<std::string>(),
             d.at("ranks").get<int>(), o.in_place ? "in place" : "out of place",
             o.host ? "host memory" : d.at("gpu").at("name").get<std::string>(),
             d.at("contract").get<std::string>(), d.at("versions").at("nccl").get<std::string>());
  if (o.host)
    fmt::print("# times: median of {} calls, each the slowest rank's\n", o.iterations);
  else
    fmt::print("# bench {}; times of one call: median of at most {} rounds of {}, each the slowest rank's\n",
               d.at("bench").get<std::string>(), o.rounds,
               o.graph > 0 ? fmt::format("{} launches of a graph of {} calls", o.graph, o.iterations)
                           : fmt::format("{} calls", o.iterations));
  if (o.against != Against::nothing)
    fmt::print("# ratio: det / {}, round by round: median and its 95 % interval (order statistics)\n",
               d.at("against").get<std::string>());
  std::string names =
      fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5}", "size", "count", "type", "redop", "root");
  std::string units = fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5}", "(B)", "(elements)", "", "", "");
  const auto column = [&](int width, const std::string& title, const char* unit) {
    names += fmt::format(" {:>{}}", title, width);
    units += fmt::format(" {:>{}}", unit, width);
  };
  if (o.against != Against::nothing) {
    column(10, d.at("against"), "(us)");
    column(7, "busbw", "(GB/s)");
  }
  column(10, "det", "(us)");
  column(7, "busbw", "(GB/s)");
  if (o.against != Against::nothing) {
    column(6, "ratio", "");
    column(6, "low", "");
    column(6, "high", "");
  }
  if (o.host_time && o.against != Against::nothing) column(8, "host nat", "(us)");
  if (o.host_time) column(8, "host det", "(us)");
  column(9, "schedule", "");
  column(9, "bits", "");
  const bool repeats = d.contains("repeats");
  if (repeats && o.repeats.split) column(6, "split", "");
  if (repeats && o.repeats.communicator) column(6, "comm", "");
  fmt::print("{}\n{}\n", names, units);
  std::fflush(stdout);
}

void Report::print_row(const Json& row) const {
  std::string text = fmt::format("{:>12} {:>12} {:>9} {:>6} {:>5}", row.at("bytes").get<std::uint64_t>(),
                                 row.at("count").get<std::uint64_t>(), row.at("datatype").get<std::string>(),
                                 row.at("op").get<std::string>(), row.at("root").get<int>());
  const bool paired = row.contains("ratio");
  if (paired)
    text += fmt::format(" {:>10.2f} {:>7.2f}", median(row, "peer_time_us"),
                        row.at("peer_busbw_gb_s").get<double>());
  text += fmt::format(" {:>10.2f} {:>7.2f}", median(row, "time_us"), row.at("busbw_gb_s").get<double>());
  if (paired) {
    const Json& ratio = row.at("ratio");
    text += fmt::format(" {:>6.3f} {:>6.3f} {:>6.3f}", median(row, "ratio"), ratio.at("low").get<double>(),
                        ratio.at("high").get<double>());
  }
  for (const char* host : {"peer_host_us", "host_us"}) {
    const bool native = host == std::string("peer_host_us");
    if (!options_.host_time || (native && !paired)) continue;
    text += row.contains(host) ? fmt::format(" {:>8.2f}", median(row, host)) : fmt::format(" {:>8}", "N/A");
  }
  text +=
      fmt::format(" {:>9} {:>9}", row.at("schedule").get<std::string>(), row.at("bits").get<std::string>());
  for (const char* name : {"split", "communicator"}) {
    if (row.contains(name)) text += fmt::format(" {:>6}", row.at(name).get<std::string>());
  }
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Report::print_progress() {
  const auto now = Clock::now();
  if (now - last_progress_ < kProgress) return;
  last_progress_ = now;
  const std::size_t all = expected_ * std::max<std::size_t>(options_.schedules.size(), 1);
  std::fprintf(stderr, "# %zu of %zu rows in %.0f s\n", document_["results"].size(), all,
               std::chrono::duration<double>(now - begin_).count());
}

void Report::write() const {
  if (options_.json.empty()) return;
  std::ofstream file(options_.json, std::ios::trunc);
  file << document_.dump(1) << '\n' << std::flush;
  if (!file) throw UsageError("cannot write '" + options_.json + "'");
}

}  // namespace detccl::perf
