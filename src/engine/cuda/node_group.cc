// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/node_group.h"

#include <utility>

#include "engine/cuda/stream_engine.h"

namespace detccl::engine::cuda {

NodeGroup::NodeGroup(const NodeWay& its_way, std::unique_ptr<transport::NcclExchange> with_node,
                     std::unique_ptr<PeerGroup> over_memory, std::unique_ptr<StreamEngine> between_nodes)
    : way(its_way),
      exchange(std::move(with_node)),
      peers(std::move(over_memory)),
      rails(std::move(between_nodes)) {
}

NodeGroup::~NodeGroup() = default;

}  // namespace detccl::engine::cuda
