// SPDX-License-Identifier: Apache-2.0
// Communicators made from others. The ranks agree over the parent's control plane, not over its transport: so
// operations of the parent may go on meanwhile, and a parent that has failed can still be shrunk.
#pragma once

#include <memory>
#include <span>

#include "hostnccl/group.h"

namespace detccl::hostnccl {

/// ncclCommSplit. The new ring passes the members in the order of the parent's ring.
void split(Group& group, const std::shared_ptr<Communicator>& parent, int color, int key, ncclComm_t* comm,
           const ncclConfig_t* config);

/// ncclCommShrink: called by all ranks that are not excluded.
void shrink(Group& group, const std::shared_ptr<Communicator>& parent, std::span<const int> excluded,
            ncclComm_t* comm, const ncclConfig_t* config, int flags);

}  // namespace detccl::hostnccl
