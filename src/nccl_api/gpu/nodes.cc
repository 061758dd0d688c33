// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/nodes.h"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "nccl_api/gpu/peers.h"
#include "nccl_api/gpu/shadow.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settings.h"

namespace detccl::nccl_api::gpu {
namespace {

using engine::NodeWay;
using engine::cuda::NodeGroup;
using engine::cuda::PeerGroup;
using engine::cuda::Reserve;
using engine::cuda::StreamEngine;
using transport::NcclExchange;

/// The ranks of our communicator that have the same `color`, in its order.
std::unique_ptr<NcclExchange> split_off(const NcclExchange& all, std::uint32_t rank, std::uint32_t color,
                                        std::uint32_t ranks) {
  ncclConfig_t config = config_of_ours(static_cast<int>(ranks));
  ncclComm_t child = nullptr;
  const ncclResult_t result =
      real().CommSplit(all.communicator(), static_cast<int>(color), static_cast<int>(rank), &child, &config);
  if (result != ncclSuccess)
    throw transport::NcclError(result, std::string("ncclCommSplit: ") + real().GetErrorString(result));
  return std::make_unique<NcclExchange>(nccl_functions(), child);
}

engine::Settings settings_of_rails(const engine::Settings& settings, const NodeWay& way) {
  engine::Settings rails = settings;
  rails.contract = way.contract_of_steps();
  rails.schedule = way.between;
  rails.group = 1;
  rails.near = 0;
  rails.lanes = 1;
  return rails;
}

/// The first problem that a rank has, in rank order; empty if none has. Collective, and waits.
std::string find_problem(StreamEngine& engine, std::uint32_t rank, std::uint32_t ranks,
                         const std::string& own) {
  using Text = std::array<char, 240>;
  Text mine{};
  own.copy(mine.data(), mine.size() - 1);
  std::vector<Text> all(ranks);
  all_gather_host(engine.reserve(), *engine.exchange(), rank, ranks, engine.gathers(), &mine, all.data(),
                  sizeof mine);
  for (const Text& text : all)
    if (text.front() != '\0') return text.data();
  return "";
}

/// Why not, the same on every rank; empty where they do from now on.
std::string try_nodes(const Communicator& communicator, StreamEngine& engine,
                      const engine::Settings& settings, const NodeWay& way, std::uint32_t blocks,
                      std::span<const Hello> hellos) {
  const auto rank = static_cast<std::uint32_t>(communicator.rank());
  const std::uint32_t node = rank / way.size, place = rank % way.size;
  auto with_node = split_off(*engine.exchange(), rank, node, way.size);
  auto with_rail = split_off(*engine.exchange(), rank, place, way.nodes());

  engine::Settings rails = settings_of_rails(settings, way);
  engine::cuda::PeerSettings over = peer_settings(hellos, rank, blocks, node * way.size, way.size);
  std::unique_ptr<Reserve> reserve;
  try {
    reserve = std::make_unique<Reserve>(rails.scratch_limit, engine::cuda::warm_up_bytes(rails, way.nodes()),
                                        0, false);
  } catch (const engine::cuda::CudaError& e) {
    if (over.problem.empty()) over.problem = e.what();
  }
  std::unique_ptr<PeerGroup> peers;
  std::string problem;
  try {
    peers = make_peers(over, place, way.size, engine.gathers(), engine.reserve(), *with_node);
  } catch (const std::invalid_argument& e) {
    problem = fmt::format("in the node from rank {} on, {}", node * way.size, e.what());
  }
  problem = find_problem(engine, rank, way.ranks, problem);
  if (!problem.empty()) {
    if (peers != nullptr) peers->finish(engine.reserve().side_streams.get(0));
    static_cast<void>(with_node->destroy());
    static_cast<void>(with_rail->destroy());
    return problem;
  }
  rails.on_choice = choice_log(communicator.name() + ", between nodes", communicator.rank());
  auto between = std::make_unique<StreamEngine>(rails, node, way.nodes(), engine.gathers(),
                                                std::move(with_rail), std::move(reserve));
  engine.use_nodes(
      std::make_unique<NodeGroup>(way, std::move(with_node), std::move(peers), std::move(between)));
  return "";
}

/// What is left to plans, and why; empty where that is nothing beside ReduceScatter and Reduce.
std::string what_is_left(const NodeWay& way) {
  if (way.takes_sums_of(contract::DataType::bfloat16)) return "";
  return fmt::format(
      "; not sums of 16-bit and 8-bit types, whose partial results are wider under contract {}: "
      "DETCCL_CONTRACT=tree:wide/{} or tree:native",
      contract::to_string(way.contract), way.size);
}

}  // namespace

void use_nodes(const Communicator& communicator, StreamEngine& engine, const engine::Settings& settings,
               const NodeChoice& choice, std::span<const Hello> hellos) {
  const Configuration& c = runtime().environment.configuration();
  const NodeWay way{settings.contract, static_cast<std::uint32_t>(hellos.size()), choice.size, *c.rails};
  const std::string why =
      choice.size == 0 ? choice.why : try_nodes(communicator, engine, settings, way, choice.blocks, hellos);
  if (communicator.rank() != 0) return;
  if (!why.empty()) {
    log_line(LogLevel::warn, fmt::format("{}: reductions go by plans, DETCCL_SCHEDULE={} cannot be: {}",
                                         communicator.name(), schedule_name(c), why));
    return;
  }
  log_line(LogLevel::info,
           fmt::format("{}: AllReduces go by {}, in {} blocks, {} MB of peer memory{}", communicator.name(),
                       way.name(), choice.blocks,
                       (engine.nodes()->peers->layout().bytes() + (1 << 20) - 1) >> 20, what_is_left(way)));
}

}  // namespace detccl::nccl_api::gpu
