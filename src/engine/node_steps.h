// SPDX-License-Identifier: Apache-2.0
// An AllReduce over nodes of as many consecutive ranks each (docs/peer.md): reduced within the nodes, then
// between the ranks with the same place in their nodes, a rail each, and collected within the nodes. A node
// is an aligned block of 2^k ranks and so a subtree of the contract's tree: the tree over the nodes' results
// is the tree over all ranks, if they can be passed on without a rounding that the contract does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/reduction.h"

namespace detccl::engine {

/// What one rank does, in this order.
struct NodeSteps {
  /// Reductions over the node's ranks, rank 0 being the one with place 0; one after the other.
  std::vector<Reduction> within;
  /// Over the rail's ranks, rank 0 being the one of the first node; in place, of their own memory each, so
  /// that they may run at the same time.
  std::vector<Reduction> between;
  /// Then each rank of the node has `part_bytes` bytes of the result at `gathered` + its place * part_bytes,
  /// and gets the others'. 0: all have everything.
  std::byte* gathered = nullptr;
  std::size_t part_bytes = 0;
};

/// How a communicator's AllReduces go over nodes; the same on every rank.
struct NodeWay {
  contract::Contract contract;
  std::uint32_t ranks = 1;  ///< of the communicator, a multiple of `size`
  std::uint32_t size = 1;   ///< ranks of a node, a power of two from 2
  plan::Schedule between;   ///< the rails' plans

  std::uint32_t nodes() const { return ranks / size; }
  /// "hier(peer,halving)/8"
  std::string name() const;

  /// Whether the steps give the contract's bits.
  bool takes(const Reduction& call) const;
  /// Likewise, of sums of type `type`.
  bool takes_sums_of(contract::DataType type) const;
  /// Of the reductions in the steps.
  contract::Contract contract_of_steps() const;

  /// Rank `rank`'s, of a call that it takes. Nothing is written but the output. Messages of up to
  /// `whole_bytes` are not cut: collecting the parts would take longer than all rails' moving all of it.
  static constexpr std::size_t kWhole = 64U << 10;
  NodeSteps steps(const Reduction& call, std::uint32_t rank, std::size_t whole_bytes = kWhole) const;
};

}  // namespace detccl::engine
