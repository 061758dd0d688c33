// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

namespace detccl::cli {
namespace {

using nlohmann::ordered_json;

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

const char* clock_name(Clock clock) {
  constexpr const char* kNames[] = {"unknown", "network", "gpu"};
  return kNames[static_cast<std::size_t>(clock)];
}

std::string overhead_name(const Compared& c) {
  const std::string source =
      c.source == Compared::Source::shadow ? fmt::format("shadow, {} pairs", c.pairs) : "baseline";
  return fmt::format("{:+.1f} % ± {:.1f} ({})", 100 * c.overhead.ratio, 100 * c.overhead.uncertainty, source);
}

/// Mean over the ranks where it is known; below 0 where it is not known.
double step_share(const Operations& operations) {
  const auto& shares = operations.step_shares;
  if (shares.empty()) return -1;
  return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
}

/// Of all operations of a communicator: what is known.
struct Total {
  double time = 0, waiting = 0, ours = 0, native = 0;  ///< nanoseconds
  std::uint64_t calls = 0;
  double of_steps = 0, overhead_of_steps = 0;
  bool steps_known = true;  ///< of all operations in steps
  PhaseTimes phases;
};

Total total_of(const CommunicatorSummary& c, const Baseline* baseline) {
  Total total;
  for (const auto& [key, operations] : c.operations) {
    total.calls += operations.count;
    total.phases.transfer += operations.phases.transfer;
    total.phases.fold += operations.phases.fold;
    total.phases.wait += operations.phases.wait;
    const double share = step_share(operations);
    total.of_steps += std::max(share, 0.0);
    if (share < 0 && operations.in_steps != 0) total.steps_known = false;
    if (operations.clock == Clock::none) continue;
    const Cost cost = cost_of(operations);
    const auto count = static_cast<double>(operations.count);
    total.time += count * (cost.own + cost.waiting);
    total.waiting += count * cost.waiting;
    const auto compared = compare(baseline, key, c.size, operations);
    if (!compared) continue;
    const double native = cost.own / (1 + compared->overhead.ratio);
    total.ours += count * cost.own;
    total.native += count * native;
    if (share > 0) total.overhead_of_steps += share * (cost.own - native) / (cost.own + cost.waiting);
  }
  return total;
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
  const double all = phases.transfer + phases.fold + phases.wait;
  if (all <= 0) return;
  fmt::format_to(std::back_inserter(out), "  transfer {:.1f} %, fold {:.1f} %, wait {:.1f} %\n",
                 100 * phases.transfer / all, 100 * phases.fold / all, 100 * phases.wait / all);
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

ordered_json row_json(const OperationKey& key, const Operations& o, const CommunicatorSummary& c,
                      const Baseline* baseline) {
  ordered_json row = {{"function", key.function},
                      {"datatype", key.datatype},
                      {"bytes_from", key.doubling == 0 ? 0 : std::uint64_t{1} << (key.doubling - 1)},
                      {"schedule", schedule_name(key)},
                      {"deterministic", key.algorithm == "detccl"},
                      {"calls", o.count},
                      {"bytes", o.bytes},
                      {"clock", clock_name(o.clock)}};
  if (const auto compared = compare(baseline, key, c.size, o)) {
    row["native_us"] = compared->native / 1e3;
    row["native_from"] = source_name(compared->source);
    row["overhead"] = {{"ratio", compared->overhead.ratio}, {"uncertainty", compared->overhead.uncertainty}};
    if (compared->source == Compared::Source::shadow) row["pairs"] = compared->pairs;
  }
  if (o.in_steps != 0) row["in_steps"] = o.in_steps;
  if (const double share = step_share(o); share >= 0) row["step_share"] = share;
  if (const double all = o.phases.transfer + o.phases.fold + o.phases.wait; all > 0)
    row["phases"] = {
        {"transfer", o.phases.transfer / all}, {"fold", o.phases.fold / all}, {"wait", o.phases.wait / all}};
  if (o.clock == Clock::none) return row;
  const Cost cost = cost_of(o);
  row["time_us"] = {{"p50", o.times.quantile(0.5) / 1e3},
                    {"p95", o.times.quantile(0.95) / 1e3},
                    {"p99", o.times.quantile(0.99) / 1e3},
                    {"own", cost.own / 1e3},
                    {"waiting", cost.waiting / 1e3}};
  return row;
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

std::string overhead_json(const OverheadReport& report) {
  const Baseline* baseline = report.baseline ? &*report.baseline : nullptr;
  ordered_json communicators = ordered_json::array(), late = ordered_json::array(),
               slow = ordered_json::array();
  for (const auto& [number, c] : report.summaries.communicators) {
    ordered_json rows = ordered_json::array();
    for (const auto& [key, operations] : c.operations)
      rows.push_back(row_json(key, operations, c, baseline));
    ordered_json one = {{"communicator", number},      {"name", c.name},       {"ranks", c.size},
                        {"summaries", c.hosts.size()}, {"seconds", c.seconds}, {"dropped", c.dropped}};
    if (c.steps.count() != 0) {
      const Total total = total_of(c, baseline);
      one["steps"] = {{"count", c.steps.count() / c.hosts.size()},
                      {"mean_us", c.steps.mean() / 1e3},
                      {"share", total.of_steps},
                      {"share_complete", total.steps_known},
                      {"share_for_determinism", total.overhead_of_steps}};
    }
    if (!c.not_paired.empty()) one["not_paired"] = c.not_paired;
    one["operations"] = std::move(rows);
    communicators.push_back(std::move(one));
  }
  for (const Straggler& s : report.stragglers)
    late.push_back({{"communicator", s.communicator},
                    {"rank", s.rank},
                    {"host", s.host},
                    {"waiting_s", s.waiting},
                    {"share", s.share}});
  for (const SlowSchedule& s : report.slow_schedules)
    slow.push_back(
        {{"schedule", schedule_name(s.operations)},
         {"function", s.operations.function},
         {"datatype", s.operations.datatype},
         {"bytes_from", s.operations.doubling == 0 ? 0 : std::uint64_t{1} << (s.operations.doubling - 1)},
         {"ranks", s.ranks},
         {"than", s.than.empty() ? "native" : s.than},
         {"factor", s.factor}});
  const ordered_json document = {{"format", "detccl-overhead-1"},
                                 {"summaries", report.summaries.files},
                                 {"unreadable", report.summaries.unreadable},
                                 {"communicators", std::move(communicators)},
                                 {"late_ranks", std::move(late)},
                                 {"slow_schedules", std::move(slow)}};
  return document.dump(1) + "\n";
}

}  // namespace detccl::cli
