// SPDX-License-Identifier: Apache-2.0
// From the real library's new communicators to entries of the registry.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nccl_api/communicator.h"

namespace detccl::nccl_api {

/// To be asked before a communicator is made: ncclSuccess, or ncclInvalidUsage where the environment has a
/// mistake.
ncclResult_t check_environment();

/// A communicator in the making.
struct NewCommunicator {
  ncclComm_t* slot;  ///< where its handle is, or will be
  std::string name;  ///< name_in() of its configuration
};

/// ncclConfig_t::commName, as much of it as travels between the ranks; empty where there is none, as in
/// configurations from before NCCL 2.27, which end before that field.
std::string name_in(const ncclConfig_t* config);

/// What to return for a creation to which the real library said `result`; the slots hold the new handles, now
/// or when the group ends. A blocking communicator is adopted at once, or at the end of the group; a
/// nonblocking one when it is first used, because until then nobody knows whether it is ready.
ncclResult_t created(ncclResult_t result, std::span<const NewCommunicator> all, bool blocking);

/// Registers and connects the communicators (null handles are left out). When that fails, they are aborted
/// and the slots are set to null.
ncclResult_t adopt_new(std::span<const NewCommunicator> all);

/// From now on the communicator's reductions are native, which DETCCL_FALLBACK=native allows; says why, once.
void fall_back(Communicator& communicator, std::string_view reason);

/// The communicator of `handle`: the registered one, or, for a handle that is valid but new here, a fresh one
/// that is yet to be connected. The real library's error if the handle is not valid.
ncclResult_t find_or_adopt(ncclComm_t handle, std::shared_ptr<Communicator>& communicator);

}  // namespace detccl::nccl_api
