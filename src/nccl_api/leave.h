// SPDX-License-Identifier: Apache-2.0
// The end of what DetCCL knows of a communicator.
#pragma once

#include <memory>

#include "nccl_api/communicator.h"

namespace detccl::nccl_api {

/// Takes the communicator out of the registry, once nothing is under way on it. Its exchange lingers as long
/// as other ranks need it, if the communicator is sound.
void leave(const std::shared_ptr<Communicator>& communicator);

/// As leave(), but false where something is under way.
bool try_leave(const std::shared_ptr<Communicator>& communicator);

/// At the process's exit, for the communicators that nobody has destroyed; called once a process can have
/// shadows.
void leave_at_exit();

}  // namespace detccl::nccl_api
