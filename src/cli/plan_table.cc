// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "plan/summary.h"

namespace detccl::cli {
namespace {

constexpr std::uint32_t kRanks[] = {8,   9,    16,   24,   63,   64,   72,    100,   127,
                                    128, 1000, 1024, 2432, 2437, 4096, 10000, 16384, 16385};

constexpr plan::Schedule kSchedules[] = {plan::Schedule::halving,
                                         plan::hier(plan::Kind::direct, plan::Kind::halving, 8),
                                         plan::hier(plan::Kind::direct, plan::Kind::halving, 8, 8),
                                         plan::hier(plan::Kind::direct, plan::Kind::direct, 8)};

/// Beyond this a direct exchange between groups is out of the question, and takes long to count.
constexpr std::uint32_t kMostDirect = 4096;

struct Row {
  std::string schedule;
  double bytes = 0;  ///< the larger of what a rank sends and receives, in messages
  std::uint64_t steps = 0, peers = 0;
  double scratch = 0;  ///< in messages
};

std::string line(std::uint32_t ranks, const Row& row) {
  const double ideal = 2.0 * (ranks - 1) / ranks;
  return fmt::format("{:>6}  {:<23}{:>9.4f}{:>9.3f}{:>8}{:>8}{:>11.3f}\n", ranks, row.schedule, row.bytes,
                     row.bytes / ideal, row.steps, row.peers, row.scratch);
}

Row count(const plan::Spec& spec, contract::DataType type) {
  Row row;
  row.schedule = plan::name(spec.schedule);
  const auto message = static_cast<double>(spec.count * contract::size_of(type));
  for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) {
    const plan::Cost cost = plan::cost(spec, rank, type);
    row.bytes =
        std::max(row.bytes, static_cast<double>(std::max(cost.bytes_sent, cost.bytes_received)) / message);
    row.peers = std::max(row.peers, cost.peers);
    row.scratch = std::max(row.scratch, static_cast<double>(cost.scratch_bytes) / message);
  }
  const plan::Steps steps = plan::steps(spec).value();
  row.steps = steps.folding + steps.moving;
  return row;
}

}  // namespace

std::string plan_table(const contract::Contract& contract, contract::DataType type, std::uint64_t count) {
  std::string text =
      fmt::format("all_reduce, contract {}, {} elements of {}; per rank, the most of all ranks\n",
                  contract::to_string(contract), count, contract::name(type));
  text += fmt::format("{:>6}  {:<23}{:>9}{:>9}{:>8}{:>8}{:>11}\n", "ranks", "schedule", "bytes/S", "of ring",
                      "steps", "peers", "scratch/S");
  for (const std::uint32_t ranks : kRanks) {
    const auto steps = static_cast<std::uint64_t>(std::bit_width(ranks - 1));
    text += line(ranks, {"NCCL ring", 2.0 * (ranks - 1) / ranks, std::uint64_t{2} * (ranks - 1), 2, 0});
    text += line(ranks, {"NCCL tree", 2.0, 2 * steps, 4, 0});
    for (const plan::Schedule& schedule : kSchedules) {
      if (!plan::supports(schedule, contract)) continue;
      if (schedule.outer == plan::Kind::direct && schedule.kind == plan::Kind::hier && ranks > kMostDirect)
        continue;
      plan::Spec spec;
      spec.schedule = schedule;
      spec.contract = contract;
      spec.ranks = ranks;
      spec.count = count;
      text += line(ranks, cli::count(spec, type));
    }
  }
  text +=
      "NCCL's by formula: its ring as nccl-tests' PERFORMANCE.md has it; its double binary tree with one "
      "rank a\n"
      "node, two halves of the message, each rank inside one tree and a leaf of the other (Sanders, Speck, "
      "Traeff\n"
      "2009).\n";
  return text;
}

}  // namespace detccl::cli
