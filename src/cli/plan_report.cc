// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace detccl::cli {
namespace {

using plan::Cost;

/// One figure of a cost, and its names.
struct Figure {
  const char *text, *json;
  std::uint64_t Cost::*value;
};

constexpr Figure kFigures[] = {
    {"stages", "stages", &Cost::stages},
    {"bytes sent", "bytes_sent", &Cost::bytes_sent},
    {"bytes received", "bytes_received", &Cost::bytes_received},
    {"peers", "peers", &Cost::peers},
    {"scratch bytes", "scratch_bytes", &Cost::scratch_bytes},
};

nlohmann::ordered_json json_of(const Cost& cost) {
  nlohmann::ordered_json object;
  for (const Figure& f : kFigures)
    object[f.json] = cost.*f.value;
  return object;
}

/// All shards together.
std::uint64_t message_bytes(const PlanReport& r) {
  const std::uint64_t shards = r.spec.collective == plan::Collective::reduce_scatter ? r.spec.ranks : 1;
  return r.spec.count * shards * contract::size_of(r.type);
}

}  // namespace

PlanReport report_plan(const plan::Spec& spec, contract::DataType type, std::optional<std::uint32_t> rank,
                       bool prove) {
  PlanReport report;
  report.spec = spec;
  report.type = type;
  report.rank = rank;
  for (std::uint32_t r = 0; r < spec.ranks; ++r) {
    const Cost cost = plan::cost(spec, r, type);
    if (r == 0) report.least = report.most = cost;
    for (const Figure& f : kFigures) {
      report.least.*f.value = std::min(report.least.*f.value, cost.*f.value);
      report.most.*f.value = std::max(report.most.*f.value, cost.*f.value);
    }
    if (r == rank) report.of_rank = cost;
  }
  if (prove) {
    const auto start = std::chrono::steady_clock::now();
    report.proof = plan::prove(spec, false);
    if (report.proof->proved) report.proof = plan::prove(spec, true);
    report.proof_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return report;
}

std::string to_text(const PlanReport& r) {
  std::string text = fmt::format("{} by {}, contract {}, {} ranks, {} bytes of {}", name(r.spec.collective),
                                 name(r.spec.schedule), contract::to_string(r.spec.contract), r.spec.ranks,
                                 message_bytes(r), name(r.type));
  if (r.spec.collective == plan::Collective::reduce) text += fmt::format(", root {}", r.spec.root);
  if (r.spec.collective == plan::Collective::reduce_scatter) {
    text += fmt::format(", {} elements a shard", r.spec.count);
  }
  text += fmt::format("\n{:<16}{:>16}{:>16}", "per rank", "least", "most");
  if (r.rank) text += fmt::format("{:>16}", fmt::format("rank {}", *r.rank));
  for (const Figure& f : kFigures) {
    text += fmt::format("\n{:<16}{:>16}{:>16}", f.text, r.least.*f.value, r.most.*f.value);
    if (r.rank) text += fmt::format("{:>16}", r.of_rank.*f.value);
  }
  text += '\n';
  if (r.proof && r.proof->proved) {
    text += fmt::format("proved out of place and in place, in {:.3g} s\n", r.proof_seconds);
  } else if (r.proof) {
    text += fmt::format("NOT PROVED: {}\n", r.proof->failure);
  }
  return text;
}

std::string to_json(const PlanReport& r) {
  nlohmann::ordered_json object;
  object["collective"] = name(r.spec.collective);
  object["schedule"] = name(r.spec.schedule);
  object["contract"] = contract::to_string(r.spec.contract);
  object["ranks"] = r.spec.ranks;
  object["type"] = name(r.type);
  object["bytes"] = message_bytes(r);
  object["count"] = r.spec.count;
  if (r.spec.collective == plan::Collective::reduce) object["root"] = r.spec.root;
  object["per_rank"]["least"] = json_of(r.least);
  object["per_rank"]["most"] = json_of(r.most);
  if (r.rank) {
    object["rank"] = json_of(r.of_rank);
    object["rank"]["number"] = *r.rank;
  }
  if (r.proof) {
    object["proved"] = r.proof->proved;
    object["proof_seconds"] = r.proof_seconds;
    if (!r.proof->proved) object["failure"] = r.proof->failure;
  }
  return object.dump(2) + "\n";
}

int exit_status(const PlanReport& report) {
  return report.proof && !report.proof->proved ? 1 : 0;
}

}  // namespace detccl::cli
