// SPDX-License-Identifier: Apache-2.0
// Makes a communicator reduce over peer memory, where it can (peer_choice.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cuda/stream_engine.h"
#include "nccl_api/communicator.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api::gpu {

/// Of rank `rank` in a group of the communicator's: `ranks` of them from `first` on, all of one host.
engine::cuda::PeerSettings peer_settings(std::span<const Hello> hellos, std::size_t rank,
                                         std::uint32_t blocks, std::size_t first, std::size_t ranks);

/// Collective. Whether reductions go over peer memory from now on: every rank comes to the same. Rank 0
/// writes a line.
ncclResult_t use_peers(const Communicator& communicator, engine::cuda::StreamEngine& engine,
                       std::span<const Hello> hellos);

}  // namespace detccl::nccl_api::gpu
