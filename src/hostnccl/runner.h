// SPDX-License-Identifier: Apache-2.0
// Carries out the operations of one group: all communicators at the same time, in the calling thread. On each
// communicator the collectives run one after the other in the order of issue, then sends and receives, all at
// once. Returns when all is done: host memory has no streams on which something could go on.
#pragma once

#include <memory>
#include <vector>

#include "hostnccl/communicator.h"
#include "hostnccl/operation.h"

namespace detccl::hostnccl {

struct Batch {
  std::shared_ptr<Communicator> communicator;
  std::vector<Operation> collectives;
  std::vector<Operation> point_to_point;
};

/// Throws the first Error. A communicator on which an operation failed has failed for good; the others' are
/// carried out. Ends within HOSTNCCL_TIMEOUT of the last progress; about a second after a peer has died; at
/// once when a communicator is aborted or revoked.
void run(const std::vector<Batch>& batches);

}  // namespace detccl::hostnccl
