// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/node_choice.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "device/cuda/peer/layout.h"
#include "nccl_api/peer_choice.h"
#include "nccl_api/topology.h"

namespace detccl::nccl_api {
namespace {

using device::cuda::peer::kMaxRanks;

bool on_one_host(std::span<const Hello> hellos) {
  return std::all_of(hellos.begin(), hellos.end(), [&](const Hello& h) { return h.host == hellos[0].host; });
}

/// The largest nodes that all have as many ranks, each an aligned group of `most` or less that is on one
/// host.
std::uint32_t find_size(std::span<const Hello> hellos, std::uint32_t most) {
  std::vector<std::uint64_t> hosts;
  for (const Hello& hello : hellos)
    hosts.push_back(hello.host);
  std::uint32_t size = std::min(find_groups(hosts).group, most);
  while (hellos.size() % size != 0)
    size /= 2;
  return size;
}

/// Why nodes of `size` ranks cannot be; empty if they can.
std::string objection(std::span<const Hello> hellos, std::uint32_t size) {
  if (size > kMaxRanks) return fmt::format("nodes have at most {} ranks, not {}", kMaxRanks, size);
  if (hellos.size() % size != 0) return fmt::format("{} ranks are no whole nodes of {}", hellos.size(), size);
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    const std::size_t first = rank / size * size;
    if (hellos[rank].host != hellos[first].host)
      return fmt::format("ranks {} and {}, in a node of {}, are on two hosts", first, rank, size);
  }
  return "";
}

}  // namespace

NodeChoice choose_nodes(const Configuration& c, std::span<const Hello> hellos) {
  NodeChoice choice;
  const auto ranks = static_cast<std::uint32_t>(hellos.size());
  const std::uint32_t asked = c.schedule->group;
  const std::uint32_t most = c.group == 0 ? kMaxRanks : std::min(c.group, kMaxRanks);
  const bool one = asked == 0 ? on_one_host(hellos) && ranks <= most : asked >= ranks;
  if (one) {
    choice.size = ranks;
    return choice;
  }
  const std::uint32_t size = asked != 0 ? asked : find_size(hellos, most);
  choice.why = objection(hellos, size);
  if (choice.why.empty() && size < 2) choice.why = "no aligned groups of ranks are on one host each";
  if (!choice.why.empty()) return choice;
  choice.size = size;
  choice.blocks = kPeerBlocks;
  for (std::uint32_t first = 0; first < ranks; first += size)
    choice.blocks = std::min(choice.blocks, peer_blocks(c, hellos.subspan(first, size)));
  choice.blocks = c.peer_blocks.value_or(choice.blocks);
  return choice;
}

}  // namespace detccl::nccl_api
