// SPDX-License-Identifier: Apache-2.0
// Times from formulas: for native collectives, and where a schedule sends a message from every rank to every
// other one, which are too many to simulate over thousands.
#pragma once

#include "engine/reduction.h"
#include "simulate/platform.h"
#include "simulate/replay.h"

namespace detccl::simulate {

/// Rings that leave a domain over one port each: as many as it has ports. 1 within a domain.
std::uint32_t channels(const Platform& platform);

/// Ring, 1 lap (ReduceScatter, AllGather) or 2 (AllReduce): `bytes` are the whole message's. Latency of all
/// hops that the last slice makes, and every byte over the slowest link.
double ring_seconds(const Platform& platform, const Protocol& protocol, std::uint32_t laps, double bytes);

/// Bytes of payload of a tree's chunk where a channel has `part` bytes: as NCCL chooses it, the smaller the
/// deeper the tree.
double tree_chunk(const Platform& platform, const Protocol& protocol, double part);

/// Double binary tree over domains, chains within: AllReduce. The first chunk goes up and down hop by hop, in
/// both trees and from two children at once; the rest follows at the bandwidth of the slowest link.
double tree_seconds(const Platform& platform, const Protocol& protocol, double bytes);

/// NCCL's all-gather by ring, best protocol, `bytes` from each rank, without the launch.
double all_gather_seconds(const Platform& platform, double bytes);

/// All ranks send `bytes` to each other one, without the launch.
double all_to_all_seconds(const Platform& platform, double bytes);

bool has_closed_form(const plan::Schedule& schedule);
/// gather or direct.
double exchange_seconds(const Case& c, const Platform& platform, const engine::Settings& settings);

}  // namespace detccl::simulate
