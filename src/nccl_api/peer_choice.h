// SPDX-License-Identifier: Apache-2.0
// Whether a communicator's reductions go over peer memory (docs/peer.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nccl_api/environment.h"
#include "nccl_api/hello.h"
#include "nccl_api/nvml.h"

namespace detccl::nccl_api {

struct PeerChoice {
  bool peer = false;         ///< what is not known here may still stand against it
  std::uint32_t blocks = 0;  ///< of a rank's kernel, where `peer`
  std::string why;           ///< where schedule auto does without; empty where that goes without saying
};

/// Whether that may be, before ranks know of each other. Ranks with the same configuration come to the same.
bool may_choose_peers(const Configuration& configuration, std::size_t ranks);

/// From what all ranks know of each other, so that all come to the same. `hellos`: of the communicator's
/// ranks, in order; none for one rank. With a schedule hier(peer,X): for a communicator within one node.
PeerChoice choose_peers(const Configuration& configuration, std::span<const Hello> hellos);

/// Of a rank's kernel over peer memory among the ranks of `hellos`, all of one host.
std::uint32_t peer_blocks(const Configuration& configuration, std::span<const Hello> hellos);

/// Why schedule auto does without, as far as only rank `rank` can tell: its GPU is not joined with all others
/// by NVLink, or `nvml` does not say so, or NCCL is told not to use such links. Nothing: it need not.
std::optional<std::string> find_obstacle(const Nvml& nvml, std::span<const Hello> hellos, std::size_t rank);

/// Why the kernels of all ranks on rank `rank`'s GPU could not run at the same time, as they have to: a block
/// has a multiprocessor to itself. Nothing: they can.
std::optional<std::string> find_crowd(std::span<const Hello> hellos, std::size_t rank, std::uint32_t blocks,
                                      std::uint32_t multiprocessors);

}  // namespace detccl::nccl_api
