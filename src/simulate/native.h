// SPDX-License-Identifier: Apache-2.0
// NCCL's own ring and double binary tree. Its channels are alike, each with a port of its own, so one of them
// is simulated, with its share of the NVLink bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/platform.h"
#include "simulate/script.h"

namespace detccl::simulate {

/// Chunks that an NCCL channel has buffers for.
inline constexpr std::uint32_t kNativeBuffers = 8;

/// The platform as one channel of a native collective sees it.
Platform channel_platform(const Platform& platform, const Protocol& protocol, bool tree);

/// `bytes`: of the whole message. 1 lap or 2. For channel_platform().
std::vector<Script> ring_scripts(const Platform& platform, const Protocol& protocol, std::uint32_t laps,
                                 double bytes);
/// AllReduce.
std::vector<Script> tree_scripts(const Platform& platform, const Protocol& protocol, double bytes);

/// Parent of each of n nodes in an in-order binary tree whose root is 0 (the root's: itself), and in its
/// counterpart, where nodes with children there have none here.
std::vector<std::uint32_t> binary_tree(std::uint32_t n, bool counterpart);

}  // namespace detccl::simulate
