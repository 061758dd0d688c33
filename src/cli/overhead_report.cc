// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_report.h"

#include "cli/overhead_totals.h"

#include <fmt/format.h>

#include <iterator>

namespace detccl::cli {
namespace {

std::string size_name(unsigned doubling) {
  if (doubling == 0) return "0";
  const unsigned power = doubling - 1;
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  return fmt::format("{}{}", 1u << power % 10, kUnits[power / 10]);
}

std::string type_name(const std::string& datatype) {
  return datatype.starts_with("ncclF") || datatype.starts_with("ncclI") || datatype.starts_with("ncclU") ||
                 datatype.starts_with("ncclB")
             ? datatype.substr(4)
             : datatype;
}

std::string overhead_name(const Compared& c) {
  const std::string source =
      c.pairs == 0 ? source_name(c.source) : fmt::format("{}, {} pairs", source_name(c.source), c.pairs);
  return fmt::format("{:+.1f} % ± {:.1f} ({})", 100 * c.overhead.ratio, 100 * c.overhead.uncertainty, source);
}

void add_row(const OperationKey& key, const Operations& o, const CommunicatorSummary& c,
             const Baseline* baseline, std::string& out) {
  std::string times = fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9}", "unknown", "", "", "", "");
  std::string native = "unknown", overhead = "unknown";
  const double share = step_share(o);
  const std::string of_steps = share < 0 ? "unknown" : fmt::format("{:.2f} %", 100 * share);
  if (o.clock != Clock::none) {
    const Cost cost = cost_of(o);
    times = fmt::format("{:9.1f} {:9.1f} {:9.1f} {:9.1f} {:9.1f}", o.times.quantile(0.5) / 1e3,
                        o.times.quantile(0.95) / 1e3, o.times.quantile(0.99) / 1e3, cost.own / 1e3,
                        cost.waiting / 1e3);
  }
  if (const auto compared = compare(baseline, key, c.size, o)) {
    native = fmt::format("{:.1f}", compared->native / 1e3);
    overhead = overhead_name(*compared);
  }
  fmt::format_to(std::back_inserter(out), "  {:<14} {:<11} {:>5} {:<18} {:>9} {} {:>9} {:>9}  {}\n",
                 key.function, type_name(key.datatype), size_name(key.doubling), schedule_name(key), o.count,
                 times, of_steps, native, overhead);
}

void add_steps(const CommunicatorSummary& c, const Total& total, std::string& out) {
  if (c.steps.count() == 0) return;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "  {} steps of {:.3f} ms: {}{:.2f} % of their time in these",
                 c.steps.count() / c.hosts.size(), c.steps.mean() * 1e-6,
                 total.steps_known ? "" : "at least ", 100 * total.of_steps);
  if (total.overhead_of_steps != 0)
    fmt::format_to(to, ", {:+.2f} % for determinism", 100 * total.overhead_of_steps);
  out += '\n';
}

void add_phases(const PhaseTimes& phases, std::string& out) {
  const double all = phases.all();
  if (all <= 0) return;
  const char* separator = "  ";
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    if (phases[i] <= 0) continue;
    fmt::format_to(std::back_inserter(out), "{}{} {:.1f} %", separator, kPhaseNames[i],
                   100 * phases[i] / all);
    separator = ", ";
  }
  out += '\n';
}

void add_communicator(const std::string& number, const CommunicatorSummary& c, const Baseline* baseline,
                      std::string& out) {
  const Total total = total_of(c, baseline);
  auto to = std::back_inserter(out);
  fmt::format_to(to, "communicator {}{}, {} of {} ranks, {:.1f} s, {} calls", number,
                 c.name.empty() ? "" : " \"" + c.name + "\"", c.hosts.size(), c.size, c.seconds, total.calls);
  if (total.time > 0)
    fmt::format_to(to, ": {:.3f} s ({:.1f} % of it waiting for the last rank)", total.time * 1e-9,
                   100 * total.waiting / total.time);
  if (total.native > 0) fmt::format_to(to, ", overhead {:+.1f} %", 100 * (total.ours / total.native - 1));
  if (c.dropped != 0) fmt::format_to(to, ", {} events not counted", c.dropped);
  out += '\n';
  add_steps(c, total, out);
  add_phases(total.phases, out);
  for (const auto& [reason, count] : c.not_paired)
    fmt::format_to(to, "  not sampled: {} ({})\n", count, reason);
  fmt::format_to(to, "  {:<14} {:<11} {:>5} {:<18} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n",
                 "collective", "type", "from", "schedule", "calls", "p50 us", "p95", "p99", "own", "waiting",
                 "of steps", "native", "overhead");
  for (const auto& [key, operations] : c.operations)
    add_row(key, operations, c, baseline, out);
}

}  // namespace

std::string overhead_text(const OverheadReport& report) {
  const Baseline* baseline = report.baseline ? &*report.baseline : nullptr;
  std::string out;
  for (const auto& [number, communicator] : report.summaries.communicators)
    add_communicator(number, communicator, baseline, out);
  auto to = std::back_inserter(out);
  for (const Straggler& s : report.stragglers)
    fmt::format_to(
        to,
        "late: rank {} ({}) of communicator {}: the others waited {:.3f} s for it, {:.1f} % of their time\n",
        s.rank, s.host, s.communicator, s.waiting, 100 * s.share);
  for (const SlowSchedule& s : report.slow_schedules)
    fmt::format_to(to, "slow: {} for {} of {} from {} over {} ranks: {:.2f} times {}\n",
                   schedule_name(s.operations), s.operations.function, type_name(s.operations.datatype),
                   size_name(s.operations.doubling), s.ranks, s.factor, s.than.empty() ? "native" : s.than);
  return out;
}

}  // namespace detccl::cli
