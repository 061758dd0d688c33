// SPDX-License-Identifier: Apache-2.0
// How many channels NCCL is asked for between a rank and each of its peers.
#pragma once

#include <cstdint>
#include <optional>

#include "contract/contract.h"
#include "plan/plan.h"

namespace detccl::nccl_api {

/// ncclConfig_t's nChannelsPerNetPeer for a communicator of `ranks` ranks; nothing: what NCCL gives. NCCL
/// gives all of a rank's peers as many, the fewest of any of them. Over several nodes that is one or two, too
/// few for NVLink. `schedule`: the one that the job names; nothing: `auto`, which may connect all ranks with
/// each other. `group`: of a hier that has none; 0: not known. The same on ranks that ask for the same.
std::optional<std::uint32_t> channels_per_peer(const std::optional<plan::Schedule>& schedule,
                                               const contract::Contract& contract, std::uint32_t group,
                                               std::uint32_t ranks);

}  // namespace detccl::nccl_api
