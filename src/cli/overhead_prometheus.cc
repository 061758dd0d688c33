// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_prometheus.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

namespace detccl::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

struct Row {
  std::string labels;
  const OperationKey& key;
  const Operations& operations;
  const CommunicatorSummary& communicator;
};

std::vector<Row> rows_of(const Summaries& summaries) {
  std::vector<Row> rows;
  for (const auto& [number, communicator] : summaries.communicators) {
    for (const auto& [key, operations] : communicator.operations) {
      rows.push_back(
          {fmt::format(
               R"(communicator="{}",name="{}",collective="{}",datatype="{}",bytes_from="{}",schedule="{}")",
               escaped(number), escaped(communicator.name), escaped(key.function), escaped(key.datatype),
               key.doubling == 0 ? 0 : std::uint64_t{1} << (key.doubling - 1), escaped(schedule_name(key))),
           key, operations, communicator});
    }
  }
  return rows;
}

void head(const char* name, const char* type, const char* help, std::string& out) {
  fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void add_durations(const std::vector<Row>& rows, std::string& out) {
  constexpr const char* kName = "detccl_collective_duration_seconds";
  head(kName, "summary", "Time of operations over all ranks.", out);
  auto to = std::back_inserter(out);
  for (const Row& row : rows) {
    const auto& times = row.operations.times;
    if (row.operations.clock == Clock::none) continue;
    for (const double q : {0.5, 0.95, 0.99})
      fmt::format_to(to, "{}{{{},quantile=\"{}\"}} {:.9g}\n", kName, row.labels, q, times.quantile(q) * 1e-9);
    fmt::format_to(to, "{}_sum{{{}}} {:.9g}\n{}_count{{{}}} {}\n", kName, row.labels, times.sum() * 1e-9,
                   kName, row.labels, times.count());
  }
}

void add_phases(const std::vector<Row>& rows, std::string& out) {
  constexpr const char* kName = "detccl_collective_phase_seconds_total";
  std::string samples;
  for (const Row& row : rows) {
    const PhaseTimes& phases = row.operations.phases;
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i)
      if (phases[i] > 0)
        fmt::format_to(std::back_inserter(samples), "{}{{{},phase=\"{}\"}} {:.9g}\n", kName, row.labels,
                       kPhaseNames[i], phases[i] * 1e-9);
  }
  if (samples.empty()) return;
  head(kName, "counter", "Time of all ranks in operations whose phases were timed.", out);
  out += samples;
}

void add_costs(const std::vector<Row>& rows, const Baseline* baseline, std::string& out) {
  auto to = std::back_inserter(out);
  head("detccl_collective_waiting_seconds", "gauge",
       "Mean time of an operation that ranks wait for the last one.", out);
  for (const Row& row : rows) {
    if (row.operations.clock != Clock::none)
      fmt::format_to(to, "detccl_collective_waiting_seconds{{{}}} {:.9g}\n", row.labels,
                     cost_of(row.operations).waiting * 1e-9);
  }
  std::string ratios;
  for (const Row& row : rows) {
    if (const auto compared = compare(baseline, row.key, row.communicator.size, row.operations))
      fmt::format_to(std::back_inserter(ratios),
                     "detccl_collective_overhead_ratio{{{},native_from=\"{}\"}} {:.6g}\n", row.labels,
                     source_name(compared->source), compared->overhead.ratio);
  }
  if (ratios.empty()) return;
  head("detccl_collective_overhead_ratio", "gauge", "Cost of an operation over a native one's, less one.",
       out);
  out += ratios;
}

}  // namespace

std::string overhead_prometheus(const OverheadReport& report) {
  const std::vector<Row> rows = rows_of(report.summaries);
  std::string out;
  auto to = std::back_inserter(out);
  head("detccl_collective_operations_total", "counter", "Operations of a rank.", out);
  for (const Row& row : rows)
    fmt::format_to(to, "detccl_collective_operations_total{{{}}} {}\n", row.labels, row.operations.count);
  head("detccl_collective_bytes_total", "counter", "Bytes of a rank's operations.", out);
  for (const Row& row : rows)
    fmt::format_to(to, "detccl_collective_bytes_total{{{}}} {}\n", row.labels, row.operations.bytes);
  add_durations(rows, out);
  add_phases(rows, out);
  add_costs(rows, report.baseline ? &*report.baseline : nullptr, out);
  head("detccl_late_rank_waiting_seconds", "gauge", "Time that other ranks waited for this one.", out);
  for (const Straggler& s : report.stragglers)
    fmt::format_to(to,
                   "detccl_late_rank_waiting_seconds{{communicator=\"{}\",rank=\"{}\",host=\"{}\"}} {:.9g}\n",
                   escaped(s.communicator), s.rank, escaped(s.host), s.waiting);
  return out;
}

}  // namespace detccl::cli
