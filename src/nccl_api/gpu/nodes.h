// SPDX-License-Identifier: Apache-2.0
// Makes a communicator's AllReduces go over nodes, where they can (node_choice.h).
#pragma once

#include <span>

#include "engine/cuda/stream_engine.h"
#include "nccl_api/communicator.h"
#include "nccl_api/hello.h"
#include "nccl_api/node_choice.h"

namespace detccl::nccl_api::gpu {

/// Collective, for a choice of several nodes, or none. Whether AllReduces go over nodes from now on: every
/// rank comes to the same. Rank 0 writes a line. `settings`: the engine's. Throws NcclError, CudaError.
void use_nodes(const Communicator& communicator, engine::cuda::StreamEngine& engine,
               const engine::Settings& settings, const NodeChoice& choice, std::span<const Hello> hellos);

}  // namespace detccl::nccl_api::gpu
