// SPDX-License-Identifier: Apache-2.0
// The end of a communicator: finalize, destroy, abort, revoke.
#pragma once

#include <memory>

#include "hostnccl/group.h"

namespace detccl::hostnccl {

/// Throws Error: a communicator that is revoked (ncclInvalidUsage), or finalized already, or not ready.
void finalize(Group& group, const std::shared_ptr<Communicator>& communicator);

/// Frees the handle when the group ends; in any order among the ranks, without waiting for them. A failed
/// communicator can be destroyed too. Throws Error(ncclInvalidArgument) for one that is still being made.
void destroy(Group& group, ncclComm_t handle);

/// Makes whatever waits on the communicator return, the other ranks' operations too, and frees the handle.
/// In every state, from any thread.
void abort(ncclComm_t handle);

/// Ends what this rank has under way on the communicator; afterwards it can only be split, shrunk, destroyed.
/// Local: every rank revokes for itself.
void revoke(const std::shared_ptr<Communicator>& communicator, int flags);

}  // namespace detccl::hostnccl
