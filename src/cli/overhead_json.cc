// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/overhead_report.h"
#include "cli/overhead_totals.h"

namespace detccl::cli {
namespace {

using nlohmann::ordered_json;

const char* clock_name(Clock clock) {
  constexpr const char* kNames[] = {"unknown", "network", "gpu"};
  return kNames[static_cast<std::size_t>(clock)];
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
    if (compared->pairs != 0) row["pairs"] = compared->pairs;
  }
  if (o.in_steps != 0) row["in_steps"] = o.in_steps;
  if (const double share = step_share(o); share >= 0) row["step_share"] = share;
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i)
    if (o.phases[i] > 0) row["phases"][kPhaseNames[i]] = o.phases[i] / o.phases.all();
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
