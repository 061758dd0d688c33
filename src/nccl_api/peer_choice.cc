// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/peer_choice.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "device/cuda/peer/layout.h"

namespace detccl::nccl_api {
namespace {

using device::cuda::peer::kMaxRanks;

/// Why not every rank is known to have a GPU of its own; empty if every one has.
std::string find_shared(std::span<const Hello> hellos) {
  std::map<std::string_view, std::size_t> owners;
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    if (gpu_of(hellos[rank]).empty()) return fmt::format("rank {}'s GPU has no bus id", rank);
    const auto [owner, is_new] = owners.emplace(gpu_of(hellos[rank]), rank);
    if (!is_new) return fmt::format("ranks {} and {} share a GPU", owner->second, rank);
  }
  return "";
}

/// Why schedule auto does without it, whatever the ranks are; empty if nothing stands against it.
std::string objection(const Configuration& c, std::size_t ranks) {
  if (c.tuning != nullptr) return "DETCCL_TUNING chooses among plans";
  if (c.prove) return "DETCCL_PROVE asks for plans";
  if (c.peer_blocks == 0u) return "DETCCL_PEER_BLOCKS=0";
  if (c.contract.block != 0) return "the contract has blocks";
  if (ranks > kMaxRanks) return fmt::format("there are more than {} ranks", kMaxRanks);
  return "";
}

std::string find_other_host(std::span<const Hello> hellos) {
  for (std::size_t rank = 1; rank < hellos.size(); ++rank) {
    if (hellos[rank].host != hellos[0].host) return fmt::format("rank {} is on another host", rank);
  }
  return "";
}

std::string objection(std::span<const Hello> hellos) {
  const std::string other = find_other_host(hellos);
  return other.empty() ? find_shared(hellos) : other;
}

/// NCCL's word for links between GPUs of a host. It may differ between ranks.
std::optional<std::string> find_ban() {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (const auto disable = text("NCCL_P2P_DISABLE"); !disable.empty() && disable != "0")
    return fmt::format("NCCL_P2P_DISABLE={}", disable);
  if (const auto level = text("NCCL_P2P_LEVEL"); level == "LOC" || level == "0")
    return fmt::format("NCCL_P2P_LEVEL={}", level);
  return std::nullopt;
}

}  // namespace

bool may_choose_peers(const Configuration& c, std::size_t ranks) {
  if (c.rails) return ranks > 1;
  return ranks > 1 && !c.schedule && (c.peer || objection(c, ranks).empty());
}

std::uint32_t peer_blocks(const Configuration& c, std::span<const Hello> hellos) {
  return c.peer_blocks.value_or(find_shared(hellos).empty() ? kPeerBlocks : kPeerBlocksShared);
}

PeerChoice choose_peers(const Configuration& c, std::span<const Hello> hellos) {
  PeerChoice choice;
  if (hellos.size() < 2 || (c.schedule && !c.rails)) return choice;
  if (!c.peer && !c.rails) choice.why = objection(c, hellos.size());
  if (!c.peer && choice.why.empty()) choice.why = c.rails ? find_other_host(hellos) : objection(hellos);
  if (c.rails && c.contract.block != 0) choice.why = "the contract has blocks";
  choice.peer = choice.why.empty();
  if (choice.peer) choice.blocks = peer_blocks(c, hellos);
  return choice;
}

std::optional<std::string> find_obstacle(const Nvml& nvml, std::span<const Hello> hellos, std::size_t rank) {
  if (auto ban = find_ban()) return ban;
  if (nvml.p2p_status == nullptr) return "NVML is not there, which knows of NVLink";
  const auto find = [&](std::size_t r, Nvml::Device& device) {
    return nvml.by_bus_id(std::string(gpu_of(hellos[r])).c_str(), &device) == Nvml::kSuccess;
  };
  Nvml::Device own = nullptr, other = nullptr;
  if (!find(rank, own)) return fmt::format("NVML does not know GPU {}", gpu_of(hellos[rank]));
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    if (r == rank) continue;
    if (!find(r, other)) return fmt::format("NVML does not know rank {}'s GPU {}", r, gpu_of(hellos[r]));
    int status = -1;
    if (nvml.p2p_status(own, other, Nvml::kNvlink, &status) != Nvml::kSuccess)
      return fmt::format("NVML does not say whether NVLink joins it with rank {}", r);
    if (status != Nvml::kConnected) return fmt::format("no NVLink joins it with rank {}", r);
  }
  return std::nullopt;
}

std::optional<std::string> find_crowd(std::span<const Hello> hellos, std::size_t rank, std::uint32_t blocks,
                                      std::uint32_t multiprocessors) {
  const std::string_view own = gpu_of(hellos[rank]);
  const auto here = std::count_if(hellos.begin(), hellos.end(), [&](const Hello& hello) {
    return hello.host == hellos[rank].host && gpu_of(hello) == own;
  });
  const std::uint64_t ranks = own.empty() ? 1 : static_cast<std::uint64_t>(here);
  if (ranks * blocks <= multiprocessors) return std::nullopt;
  return fmt::format("{} blocks of {} ranks do not fit on its GPU's {} multiprocessors (DETCCL_PEER_BLOCKS)",
                     blocks, ranks, multiprocessors);
}

}  // namespace detccl::nccl_api
