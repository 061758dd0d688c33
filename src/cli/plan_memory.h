// SPDX-License-Identifier: Apache-2.0
// Memory that NCCL sets aside on a GPU for the connections of a communicator's sends and receives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contract/contract.h"
#include "plan/plan.h"

namespace detccl::cli {

/// NCCL 2.28's rules and defaults. A "channel" is one of those that carry sends and receives.
class ConnectionMemory {
 public:
  /// With the values that the environment's NCCL_ variables have, and NCCL's defaults for others. `near`:
  /// consecutive ranks that reach each other over NVLink. `channels`: of each peer; without it all where
  /// every rank is near, else NCCL_NCHANNELS_PER_NET_PEER, else what DetCCL asks for, else what NCCL gives.
  ConnectionMemory(const plan::Spec& spec, std::uint32_t near, std::optional<std::uint32_t> channels);

  std::uint64_t channels() const { return channels_; }
  /// For one peer over NVLink, on one channel.
  std::uint64_t near_bytes() const;
  /// For all peers over the network together, as soon as there is one.
  std::uint64_t far_bytes() const;
  /// Of a rank with so many peers over NVLink and over the network.
  std::uint64_t bytes(std::uint64_t near_peers, std::uint64_t far_peers) const;
  /// One line.
  std::string explanation() const;

 private:
  std::uint64_t usual_channels(const plan::Spec& spec, std::uint32_t near) const;

  std::uint64_t simple_, ll_, ll128_, network_chunk_, all_channels_, channels_;
};

/// A rank's region where reductions go over peer memory (docs/peer.md), in so many blocks; 0 where a
/// communicator of so many ranks, or the contract, does not allow it.
std::uint64_t peer_bytes(std::uint32_t ranks, const contract::Contract& contract, std::uint32_t blocks);

}  // namespace detccl::cli
