// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/channels.h"

#include <algorithm>
#include <vector>

namespace detccl::nccl_api {
namespace {

/// The seven others of a node then take 28 channels, of the 32 that NCCL has at most.
constexpr std::uint32_t kChannels = 4;

/// Each channel of a peer is a connection of its own, and over NVLink has buffers of its own.
constexpr std::uint32_t kFewRanks = 32, kFewPeers = 128;

constexpr std::uint32_t kUsualGroup = 8;

/// Of rank 0; others have a few more or less. All others where there is no such plan.
std::size_t peers_of(plan::Spec spec, std::uint32_t group) {
  if (spec.schedule.kind == plan::Kind::hier && spec.schedule.group == 0)
    spec.schedule.group = group != 0 ? group : kUsualGroup;
  if (plan::check(spec)) return spec.ranks - 1;
  std::vector<std::uint32_t> peers;
  for (const plan::Stage& stage : plan::build(spec, 0).stages) {
    for (const auto* transfers : {&stage.sends, &stage.receives}) {
      for (const plan::Transfer& transfer : *transfers)
        peers.push_back(transfer.peer);
    }
  }
  std::sort(peers.begin(), peers.end());
  return static_cast<std::size_t>(std::unique(peers.begin(), peers.end()) - peers.begin());
}

}  // namespace

std::optional<std::uint32_t> channels_per_peer(const std::optional<plan::Schedule>& schedule,
                                               const contract::Contract& contract, std::uint32_t group,
                                               std::uint32_t ranks) {
  if (ranks <= kFewRanks) return kChannels;
  if (!schedule) return std::nullopt;
  plan::Spec spec;  // an all_reduce, which has all peers that a reduce or a reduce_scatter has
  spec.schedule = *schedule;
  spec.contract = contract;
  spec.ranks = ranks;
  spec.count = std::uint64_t{64} * ranks;
  if (peers_of(spec, group) > kFewPeers) return std::nullopt;
  return kChannels;
}

}  // namespace detccl::nccl_api
