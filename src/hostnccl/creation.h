// SPDX-License-Identifier: Apache-2.0
// Making communicators: CommInit*, Split, Shrink. What can be checked at once is checked at once; the rest is
// done at the group's end.
#pragma once

#include <vector>

#include "hostnccl/group.h"

namespace detccl::hostnccl {

/// ncclCommInitRank and its kin. `ids` are those of the call; the communicator is known by the first.
void init_rank(Group& group, ncclComm_t* comm, int size, const std::vector<ncclUniqueId>& ids, int rank,
               int device, const ncclConfig_t* config);

/// ncclCommInitAll: `devices` may be null.
void init_all(ncclComm_t* comms, int size, const int* devices);

/// Writes where the user's new communicator is to stand. Other threads may look there at the same time.
void publish(ncclComm_t* comm, ncclComm_t handle) noexcept;

/// All at the same time, those of one carrier one after the other. Nonblocking ones go on in the background:
/// then true is returned. Throws the first Error, having cancelled what failed.
bool carry_out_creations(std::vector<Creation> creations);

}  // namespace detccl::hostnccl
