// SPDX-License-Identifier: Apache-2.0
// Gives communicators their shadows: a worker of our own on every rank, found through the communicator
// itself.
#pragma once

#include <memory>
#include <span>

#include "nccl_api/communicator.h"
#include "nccl_api/hello.h"

namespace detccl::nccl_api {

/// Collective over the communicator's ranks, which must be ready and have nothing else under way: agrees on
/// the settings and makes the shadow. Fails alike on every rank where ranks disagree (ncclInvalidUsage) or
/// one of them cannot take part (ncclSystemError). The calling thread must not be inside a group of the real
/// library. The communicator must have been entered.
ncclResult_t connect(Communicator& communicator);

/// Connects all of them at the same time, for the ranks of one communicator may all belong to this thread.
/// The first error, if any.
ncclResult_t connect_all(std::span<const std::shared_ptr<Communicator>> communicators);

/// As connect_all(), of communicators that have been entered.
ncclResult_t connect_entered(std::span<Communicator* const> communicators);

/// In a trace all ranks know the communicator by the same properties: rank 0's, and all ranks' numbers. What
/// this rank says of itself, and what comes of all ranks' words.
void introduce(Communicator& communicator, Hello& own);
void identify(Communicator& communicator, std::span<const Hello> hellos);

}  // namespace detccl::nccl_api
