// SPDX-License-Identifier: Apache-2.0
#include "cli/report_results.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace detccl::cli {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, const char* name) {
  const double value = json.at(name).get<double>();
  if (!std::isfinite(value) || value < 0) throw std::range_error(fmt::format("{} is {}", name, value));
  return value;
}

Interval interval(const Json& json) {
  const bool has_bounds = json.contains("low") && json.contains("high");
  const Interval i = {.low = number(json, has_bounds ? "low" : "min"),
                      .median = number(json, "median"),
                      .high = number(json, has_bounds ? "high" : "max")};
  if (i.low > i.median || i.median > i.high)
    throw std::range_error(fmt::format("{} is not between {} and {}", i.median, i.low, i.high));
  return i;
}

std::optional<Interval> optional_interval(const Json& row, const char* name) {
  return row.contains(name) ? std::optional(interval(row.at(name))) : std::nullopt;
}

/// busbw over algbw, as nccl-tests has it.
std::optional<double> bus_factor(const std::string& collective, std::uint64_t ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  if (collective == "all_reduce") return 2 * others;
  if (collective == "reduce_scatter" || collective == "all_gather" || collective == "alltoall") return others;
  if (collective == "reduce" || collective == "broadcast" || collective == "sendrecv") return 1;
  return std::nullopt;
}

/// As the file has it, else from the time.
std::optional<double> busbw(const Json& row, const char* name, std::optional<Interval> time_us,
                            std::optional<double> factor) {
  if (row.contains(name)) return number(row, name);
  if (!time_us || !factor || time_us->median == 0) return std::nullopt;
  return number(row, "bytes") / time_us->median / 1e3 * *factor;
}

/// `run`: the sweep's document, which in format 1 has what later each row has.
SweepRow read_row(const Json& row, const Json& run, const Sweep& sweep) {
  const auto text = [&](const char* name) {
    return (row.contains(name) ? row : run).at(name).get<std::string>();
  };
  SweepRow r;
  r.bytes = row.at("bytes").get<std::uint64_t>();
  if (r.bytes == 0) throw std::range_error("bytes is 0");
  r.datatype = text("datatype");
  r.op = text("op");
  r.schedule = text("schedule");
  // Format 1 chose the schedule itself, and timed each call by itself.
  if (r.schedule == "chosen") r.schedule = "auto";
  r.rounds = (row.contains("rounds") ? row.at("rounds") : run.at("iterations")).get<std::uint64_t>();
  r.time_us = interval(row.at("time_us"));
  r.peer_time_us = optional_interval(row, "peer_time_us");
  r.ratio = optional_interval(row, "ratio");
  const std::optional<double> factor = bus_factor(sweep.collective, sweep.ranks);
  r.busbw = busbw(row, "busbw_gb_s", r.time_us, factor);
  r.peer_busbw = busbw(row, "peer_busbw_gb_s", r.peer_time_us, factor);
  if (row.contains("bits")) {
    r.bits = row.at("bits").get<std::string>();
  } else {
    const bool good = row.at("wrong").get<std::uint64_t>() == 0 && row.at("ranks_agree").get<bool>();
    r.bits = row.at("checked").get<std::uint64_t>() == 0 ? "unchecked" : good ? "ok" : "WRONG";
  }
  return r;
}

std::string versions_of(const Json& versions) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"detccl", "DetCCL"},
                                                            {"nccl", "NCCL"},
                                                            {"nccl_api", "NCCL API"},
                                                            {"ucx", "UCX"},
                                                            {"open_mpi", "Open MPI"}};
  std::string text;
  for (const auto& [key, name] : kNames) {
    if (!versions.contains(key)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, versions.at(key).get<std::string>());
  }
  return text;
}

std::string peer_of(const Json& run) {
  if (!run.contains("against") || run.at("against").is_null()) return "";
  return run.at("against") == "mpi" ? "Open MPI" : "native NCCL";
}

void read_sweep(const Json& run, const std::string& file, const std::string& settings, Results& results) {
  Sweep sweep;
  sweep.file = file;
  sweep.settings = settings;
  sweep.collective = run.at("collective").get<std::string>();
  sweep.date = run.at("date").get<std::string>();
  sweep.commit = run.at("commit").get<std::string>();
  sweep.contract = run.at("contract").get<std::string>();
  sweep.versions = versions_of(run.at("versions"));
  sweep.peer = peer_of(run);
  sweep.ranks = run.at("ranks").get<std::uint64_t>();
  if (sweep.ranks == 0) throw std::range_error("ranks is 0");
  if (run.at("memory") == "gpu") {
    const Json& gpu = run.at("gpu");
    sweep.driver = gpu.at("driver").get<std::string>();
    sweep.where =
        fmt::format("{}, {} bench", gpu.at("name").get<std::string>(), run.at("bench").get<std::string>());
  } else {
    const Json& cpu = run.at("cpu");
    sweep.where = fmt::format("host memory, {}, {} cores", cpu.at("model").get<std::string>(),
                              cpu.at("cores").get<std::uint64_t>());
  }
  for (const Json& row : run.at("results"))
    sweep.rows.push_back(read_row(row, run, sweep));
  for (const Json& failure : run.value("failures", Json::array())) {
    results.not_measured.push_back(fmt::format(
        "{}: {}, {} ranks, schedule {}{}: {}", file, sweep.collective, sweep.ranks,
        failure.at("schedule").get<std::string>(),
        failure.contains("bytes") ? fmt::format(", {}, {} bytes", failure.at("datatype").get<std::string>(),
                                                failure.at("bytes").get<std::uint64_t>())
                                  : "",
        failure.at("reason").get<std::string>()));
  }
  if (run.contains("complete") && !run.at("complete").get<bool>() &&
      run.value("failures", Json::array()).empty())
    results.not_measured.push_back(fmt::format("{}: {}, {} ranks: the sweep did not come to its end", file,
                                               sweep.collective, sweep.ranks));
  results.sweeps.push_back(std::move(sweep));
}

void read_table(const Json& table, const std::string& file, Results& results) {
  for (const Json& run : table.at("runs")) {
    const Json& document = run.at("document");
    if (!document.empty()) {
      read_sweep(document, file, "", results);
      continue;
    }
    results.not_measured.push_back(fmt::format(
        "{}: {}, {} ranks, {} bench: exit status {}", file, run.at("collective").get<std::string>(),
        run.at("ranks").get<int>(), run.at("bench").get<std::string>(), run.at("exit_code").get<int>()));
  }
  for (const Json& run : table.at("not_run"))
    results.not_measured.push_back(fmt::format(
        "{}: {}, {} ranks, {} bench: {}", file, run.at("collective").get<std::string>(),
        run.at("ranks").get<int>(), run.at("bench").get<std::string>(), run.at("why").get<std::string>()));
}

void read_settings(const Json& document, const std::string& file, Results& results) {
  for (const Json& sweep : document.at("sweeps")) {
    std::string settings;
    for (const auto& [name, value] : sweep.at("settings").items()) {
      if (name == "DETCCL_SCHEDULE") continue;  // the rows say it
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", name, value.get<std::string>());
    }
    read_sweep(sweep.at("document"), file, settings, results);
  }
}

void read_document(const Json& document, const std::string& file, Results& results) {
  const std::string format =
      document.is_object() && document.contains("format") ? document.at("format").get<std::string>() : "";
  if (format == "detccl-perf-1" || format == "detccl-perf-2") {
    read_sweep(document, file, "", results);
  } else if (format == "detccl-perf-table-1") {
    read_table(document, file, results);
  } else if (format == "detccl-perf-settings-1") {
    read_settings(document, file, results);
  } else {
    throw BadResult(
        fmt::format("{}: not the result of a sweep: {}", file,
                    format.empty() ? "it has no format" : "unknown format " + Json(format).dump()));
  }
}

std::string contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw BadResult(file + ": cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  if (text.str().empty()) throw BadResult(file + ": empty, or not a file");
  return text.str();
}

/// nlohmann's messages without their number.
std::string reason(const Json::exception& e) {
  const std::string text = e.what();
  const std::size_t end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

void read_results(const std::string& file, Results& results) {
  const Json document = Json::parse(contents(file), nullptr, false);
  if (document.is_discarded()) throw BadResult(file + ": damaged: not JSON, or cut short");
  try {
    read_document(document, file, results);
  } catch (const Json::exception& e) {
    throw BadResult(fmt::format("{}: damaged: {}", file, reason(e)));
  } catch (const std::range_error& e) {
    throw BadResult(fmt::format("{}: damaged: {}", file, e.what()));
  }
}

}  // namespace detccl::cli
