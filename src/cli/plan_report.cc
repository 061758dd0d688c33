// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/plan_memory.h"
#include "nccl_api/environment.h"

namespace detccl::cli {
namespace {

/// One figure of a rank, and its names.
struct Figure {
  const char *text, *json;
  std::uint64_t Figures::*value;
};

constexpr Figure kFigures[] = {
    {"stages", "stages", &Figures::stages},
    {"bytes sent", "bytes_sent", &Figures::bytes_sent},
    {"bytes received", "bytes_received", &Figures::bytes_received},
    {"peers", "peers", &Figures::peers},
    {"near peers", "near_peers", &Figures::near_peers},
    {"connection bytes", "connection_bytes", &Figures::connection_bytes},
    {"scratch bytes", "scratch_bytes", &Figures::scratch_bytes},
};

nlohmann::ordered_json json_of(const Figures& figures) {
  nlohmann::ordered_json object;
  for (const Figure& f : kFigures)
    object[f.json] = figures.*f.value;
  return object;
}

double mebibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

/// All shards together.
std::uint64_t message_bytes(const PlanReport& r) {
  const std::uint64_t shards = r.spec.collective == plan::Collective::reduce_scatter ? r.spec.ranks : 1;
  return r.spec.count * shards * contract::size_of(r.type);
}

}  // namespace

PlanReport report_plan(const plan::Spec& spec, contract::DataType type, std::optional<std::uint32_t> rank,
                       bool prove, const Machine& machine) {
  PlanReport report;
  report.machine = machine;
  const ConnectionMemory memory(spec, machine.near, machine.channels);
  report.spec = spec;
  report.type = type;
  report.rank = rank;
  for (std::uint32_t r = 0; r < spec.ranks; ++r) {
    Figures cost{plan::cost(spec, r, type, machine.near), 0};
    cost.connection_bytes = memory.bytes(cost.near_peers, cost.peers - cost.near_peers);
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
  text += fmt::format("\nnear: {} consecutive ranks of an NVLink domain\n{}\n", r.machine.near,
                      ConnectionMemory(r.spec, r.machine.near, r.machine.channels).explanation());
  if (const std::uint64_t bytes = peer_bytes(r.spec.ranks, r.spec.contract, nccl_api::kPeerBlocks)) {
    text += fmt::format(
        "peer memory: {:.0f} MiB in {} blocks, {:.0f} in {}, where reductions go over it; then none of those "
        "connections\n",
        mebibytes(bytes), nccl_api::kPeerBlocks,
        mebibytes(peer_bytes(r.spec.ranks, r.spec.contract, nccl_api::kPeerBlocksShared)),
        nccl_api::kPeerBlocksShared);
  }
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
  const ConnectionMemory memory(r.spec, r.machine.near, r.machine.channels);
  object["connections"] = {{"near_ranks", r.machine.near},
                           {"channels", memory.channels()},
                           {"near_bytes", memory.near_bytes()},
                           {"far_bytes", memory.far_bytes()}};
  if (const std::uint64_t bytes = peer_bytes(r.spec.ranks, r.spec.contract, nccl_api::kPeerBlocks))
    object["peer_memory"] = {{"blocks", nccl_api::kPeerBlocks}, {"bytes", bytes}};
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
