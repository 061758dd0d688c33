// SPDX-License-Identifier: Apache-2.0
#include "simulate/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace detccl::simulate {
namespace {

using Json = nlohmann::ordered_json;

double micro(double seconds) {
  return seconds * 1e6;
}

std::string size(std::uint64_t bytes) {
  for (const auto& [unit, shift] : {std::pair{"GB", 30}, {"MB", 20}, {"KB", 10}})
    if (bytes >> shift != 0 && bytes % (std::uint64_t{1} << shift) == 0)
      return fmt::format("{} {}", bytes >> shift, unit);
  return fmt::format("{} B", bytes);
}

std::string terms_text(const Row& row) {
  const Terms& t = *row.terms;
  const double whole = row.ours[row.best].prediction->seconds;
  return fmt::format("without launches {:.0f} %, latency {:.0f} %, bytes {:.0f} %, folds {:.0f} % less",
                     100 * t.launches / whole, 100 * t.latency / whole, 100 * t.bandwidth / whole,
                     100 * t.folds / whole);
}

std::string step_text(const StepReport& r) {
  std::string text = fmt::format("\nPREDICTED step: {}\n", r.step.name);
  if (!r.step.assumed.empty()) text += "assumed: " + r.step.assumed + "\n";
  const auto line = [&text](const char* name, const StepTime& t) {
    text += fmt::format("{:<14}{:>10.3f} ms, reductions {:.3f} ms, of which exposed {:.3f} ms\n", name,
                        t.step * 1e3, t.reduced * 1e3, t.exposed * 1e3);
  };
  line("native", r.native);
  line("deterministic", r.ours);
  text += fmt::format("overhead {:.3f} %\n", 100 * r.overhead());
  for (std::size_t i = 0; i < r.bests.size(); ++i)
    text +=
        fmt::format("  {} x {} {}: native {:.0f} us by {}, {:.0f} us by {}\n", r.step.buckets[i].count,
                    size(r.step.buckets[i].bytes), name(r.step.buckets[i].collective),
                    micro(r.natives[i].seconds), r.natives[i].by, micro(r.bests[i].seconds), r.bests[i].by);
  return text;
}

Json json_of(const Prediction& p) {
  return {{"us", micro(p.seconds)}, {"how", p.how}, {"by", p.by}};
}

Json json_of(const Row& row, const std::vector<plan::Schedule>& schedules) {
  Json object = {{"collective", name(row.c.collective)},
                 {"type", name(row.c.type)},
                 {"bytes", row.c.bytes},
                 {"native", json_of(row.native)}};
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    Json& of = object["schedules"][std::string(name(schedules[i]))];
    if (row.ours[i].prediction) {
      of = json_of(*row.ours[i].prediction);
    } else {
      of["none"] = row.ours[i].why;
    }
  }
  if (!row.any()) return object;
  object["best"] = name(schedules[row.best]);
  object["ratio"] = row.ratio();
  if (row.terms) {
    object["less_us_without"] = {{"launches", micro(row.terms->launches)},
                                 {"latency", micro(row.terms->latency)},
                                 {"bytes", micro(row.terms->bandwidth)},
                                 {"folds", micro(row.terms->folds)}};
  }
  return object;
}

Json json_of(const StepTime& t) {
  return {{"step_ms", t.step * 1e3}, {"reductions_ms", t.reduced * 1e3}, {"exposed_ms", t.exposed * 1e3}};
}

}  // namespace

std::string describe(const Platform& p) {
  std::string text = fmt::format("{} x {} GPUs, {}", p.domains, p.gpus, p.parameters.name);
  if (p.domains > 1)
    text += fmt::format(", leaf switches of {} domains, oversubscription {}", p.domains_per_leaf,
                        p.oversubscription);
  return text;
}

std::string method() {
  return "SimGrid, CM02 without cross-traffic, one actor per GPU; native: best of ring and tree over LL, "
         "LL128, Simple";
}

std::string to_text(const Study& s) {
  std::string text = fmt::format(
      "PREDICTED, not measured: {}\n{}\ncontract {}; parameters: {}\n", describe(s.options.platform),
      method(), contract::to_string(s.options.settings.contract), s.options.platform.parameters.source);
  std::size_t width = 10;
  for (const plan::Schedule& schedule : s.schedules)
    width = std::max(width, name(schedule).size() + 2);
  if (!s.rows.empty()) {
    text += fmt::format("\n{:<15}{:<9}{:>8}{:>12} {:<14}", "", "", "", "native us", "by");
    for (const plan::Schedule& schedule : s.schedules)
      text += fmt::format("{:>{}}", name(schedule), width);
    text += "  (over native; *: closed form)\n";
  }
  for (const Row& row : s.rows) {
    const auto star = [](const Prediction& p) { return p.how == "closed form" ? "*" : " "; };
    text += fmt::format("{:<15}{:<9}{:>8}{:>11.1f}{} {:<14}", name(row.c.collective), name(row.c.type),
                        size(row.c.bytes), micro(row.native.seconds), star(row.native), row.native.by);
    for (const Ours& ours : row.ours) {
      const std::string ratio =
          ours.prediction
              ? fmt::format("{:.3f}{}", ours.prediction->seconds / row.native.seconds, star(*ours.prediction))
              : "- ";
      text += fmt::format("{:>{}}", ratio, width);
    }
    if (row.any()) text += fmt::format("  best {}", row.ours[row.best].prediction->by);
    if (row.terms) text += "; " + terms_text(row);
    text += '\n';
    for (std::size_t i = 0; i < s.schedules.size(); ++i)
      if (!row.ours[i].prediction)
        text += fmt::format("  no {}: {}\n", name(s.schedules[i]), row.ours[i].why);
  }
  if (s.step) text += step_text(*s.step);
  return text;
}

std::string to_json(const Study& s) {
  Json object = {{"format", "detccl-predicted-1"},
                 {"predicted", true},
                 {"platform", describe(s.options.platform)},
                 {"ranks", s.options.platform.ranks()},
                 {"method", method()},
                 {"parameters", s.options.platform.parameters.source},
                 {"contract", contract::to_string(s.options.settings.contract)},
                 {"scratch_bytes", s.options.settings.scratch_limit},
                 {"lanes", s.options.settings.lanes}};
  object["rows"] = Json::array();
  for (const Row& row : s.rows)
    object["rows"].push_back(json_of(row, s.schedules));
  if (s.step) {
    object["step"] = {{"name", s.step->step.name},
                      {"assumed", s.step->step.assumed},
                      {"native", json_of(s.step->native)},
                      {"deterministic", json_of(s.step->ours)},
                      {"overhead_percent", 100 * s.step->overhead()},
                      {"buckets", Json::array()}};
    for (std::size_t i = 0; i < s.step->bests.size(); ++i)
      object["step"]["buckets"].push_back(
          {{"native", json_of(s.step->natives[i])}, {"deterministic", json_of(s.step->bests[i])}});
  }
  return object.dump(1) + "\n";
}

}  // namespace detccl::simulate
