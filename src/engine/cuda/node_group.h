// SPDX-License-Identifier: Apache-2.0
// One rank's end of a communicator whose AllReduces go over nodes (engine/node_steps.h): kernels over peer
// memory within the node, plans between nodes.
#pragma once

#include <memory>

#include "engine/cuda/peer_group.h"
#include "engine/node_steps.h"
#include "transport/nccl/nccl_exchange.h"

namespace detccl::engine::cuda {

class StreamEngine;

struct NodeGroup {
  NodeGroup(const NodeWay& its_way, std::unique_ptr<transport::NcclExchange> with_node,
            std::unique_ptr<PeerGroup> over_memory, std::unique_ptr<StreamEngine> between_nodes);
  ~NodeGroup();
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;

  NodeWay way;
  std::unique_ptr<transport::NcclExchange> exchange;  ///< with the node's ranks
  std::unique_ptr<PeerGroup> peers;                   ///< likewise
  std::unique_ptr<StreamEngine> rails;                ///< with the ranks in the same place of their nodes
};

}  // namespace detccl::engine::cuda
