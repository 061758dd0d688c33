// SPDX-License-Identifier: Apache-2.0
// Gives communicators their shadows: a worker of our own on every rank, found through the communicator
// itself.
#pragma once

#include <memory>
#include <span>

#include "nccl_api/communicator.h"

namespace detccl::nccl_api {

/// Collective over the communicator's ranks, which must be ready and have nothing else under way: agrees on
/// the settings and makes the shadow. Fails alike on every rank where ranks disagree (ncclInvalidUsage) or
/// one of them cannot take part (ncclSystemError). The calling thread must not be inside a group of the real
/// library. The communicator must have been entered.
ncclResult_t connect(Communicator& communicator);

/// Connects all of them at the same time, for the ranks of one communicator may all belong to this thread.
/// The first error, if any.
ncclResult_t connect_all(std::span<const std::shared_ptr<Communicator>> communicators);

}  // namespace detccl::nccl_api
