// SPDX-License-Identifier: Apache-2.0
// Whether a communicator's AllReduces go over nodes, by a schedule hier(peer,X) (docs/peer.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "nccl_api/environment.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api {

struct NodeChoice {
  /// Ranks of a node; 0: they go by plans, and `why` says what stands against it; the number of all ranks:
  /// there is one node, and choose_peers() is to be asked.
  std::uint32_t size = 0;
  std::uint32_t blocks = 0;  ///< of a rank's kernel, in each node
  std::string why;
};

/// From what all ranks know of each other, so that all come to the same. `hellos`: of the communicator's
/// ranks, in order, two or more. What is not known here may still stand against it.
NodeChoice choose_nodes(const Configuration& configuration, std::span<const Hello> hellos);

}  // namespace detccl::nccl_api
