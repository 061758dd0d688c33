// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "contract/contract.h"
#include "versions.h"

namespace detccl::perf {
namespace {

constexpr double kGiga = 1e9, kMicro = 1e-6;

const char* name(Against against) {
  switch (against) {
    case Against::mpi:
      return "mpi";
    case Against::native:
      return "native";
    case Against::nothing:
      break;
  }
  return "";
}

double bandwidth(const Row& row) {
  return static_cast<double>(row.bytes) / row.timing.ours.median / kGiga;
}

std::string wrong(const Options& o, const Row& row) {
  if (o.checks == 0) return "N/A";
  return row.verdict.ranks_agree ? std::to_string(row.verdict.wrong) : "differ";
}

/// To three decimals: more is noise.
double rounded(double value) {
  return std::round(value * 1000.0) / 1000.0;
}

nlohmann::ordered_json spread_json(const Spread& s, double unit) {
  return {
      {"min", rounded(s.min / unit)}, {"median", rounded(s.median / unit)}, {"max", rounded(s.max / unit)}};
}

nlohmann::ordered_json row_json(const Options& o, const Setting& setting, const Row& row) {
  nlohmann::ordered_json result = {{"bytes", row.bytes},
                                   {"count", row.count},
                                   {"time_us", spread_json(row.timing.ours, kMicro)},
                                   {"algbw_gb_s", rounded(bandwidth(row))},
                                   {"busbw_gb_s", rounded(bandwidth(row) * setting.bus_factor)},
                                   {"checked", row.verdict.checked},
                                   {"wrong", row.verdict.wrong},
                                   {"ranks_agree", row.verdict.ranks_agree}};
  if (o.against != Against::nothing) {
    result["peer_time_us"] = spread_json(row.timing.peer, kMicro);
    result["ratio"] = spread_json(row.timing.ratio, 1.0);
  }
  return result;
}

}  // namespace

std::string table_head(const Options& o, const Setting& setting) {
  std::string head = fmt::format("# {}, {} rank(s), {}, host memory, contract {}, schedule {}\n",
                                 setting.collective, setting.ranks, o.in_place ? "in place" : "out of place",
                                 contract::to_string(o.contract), o.schedule.empty() ? "chosen" : o.schedule);
  head += fmt::format("# time: median of {} calls, each the slowest rank's{}\n", o.iterations,
                      o.against == Against::nothing ? "" : "; ratio: time / the peer's, pair by pair");
  head += fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {:>10} {:>7} {:>7} {:>7}", "size", "count", "type",
                      "redop", "root", "time", "algbw", "busbw", "#wrong");
  if (o.against != Against::nothing) {
    head += fmt::format(" {:>10} {:>6} {:>6} {:>6}", name(o.against), "ratio", "min", "max");
  }
  head += fmt::format("\n#{:>11} {:>12} {:>9} {:>6} {:>5} {:>10} {:>7} {:>7} {:>7}", "(B)", "(elements)", "",
                      "", "", "(us)", "(GB/s)", "(GB/s)", "");
  if (o.against != Against::nothing) head += fmt::format(" {:>10}", "(us)");
  return head;
}

std::string table_row(const Options& o, const Setting& setting, const Row& row) {
  std::string text =
      fmt::format("{:>12} {:>12} {:>9} {:>6} {:>5} {:>10.2f} {:>7.2f} {:>7.2f} {:>7}", row.bytes, row.count,
                  type_name(o.type), contract::name(o.op), -1, row.timing.ours.median / kMicro,
                  bandwidth(row), bandwidth(row) * setting.bus_factor, wrong(o, row));
  if (o.against != Against::nothing) {
    text += fmt::format(" {:>10.2f} {:>6.3f} {:>6.3f} {:>6.3f}", row.timing.peer.median / kMicro,
                        row.timing.ratio.median, row.timing.ratio.min, row.timing.ratio.max);
  }
  return text;
}

std::string json(const Options& o, const Setting& setting, const std::vector<Row>& rows) {
  nlohmann::ordered_json document = {
      {"format", "detccl-perf-1"},
      {"collective", setting.collective},
      {"date", date_utc()},
      {"commit", o.commit},
      {"cpu", {{"model", cpu_model()}, {"cores", std::thread::hardware_concurrency()}}},
      {"versions",
       {{"detccl", DETCCL_VERSION},
        {"nccl_api", nccl_version()},
        {"open_mpi", open_mpi_version()},
        {"ucx", ucx_version()}}},
      {"ranks", setting.ranks},
      {"memory", "host"},
      {"in_place", o.in_place},
      {"datatype", type_name(o.type)},
      {"op", contract::name(o.op)},
      {"contract", contract::to_string(o.contract)},
      {"schedule", o.schedule.empty() ? "chosen" : o.schedule},
      {"iterations", o.iterations},
      {"warmup", o.warmup},
      {"checks", o.checks},
      {"against",
       o.against == Against::nothing ? nlohmann::ordered_json() : nlohmann::ordered_json(name(o.against))}};
  bool passed = true;
  for (const Row& row : rows) {
    document["results"].push_back(row_json(o, setting, row));
    passed = passed && row.verdict.good();
  }
  document["passed"] = passed;
  return document.dump(1) + "\n";
}

}  // namespace detccl::perf
