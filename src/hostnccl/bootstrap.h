// SPDX-License-Identifier: Apache-2.0
// Sets a communicator up: all its ranks meet at the root, tell each other their transport addresses, and
// check that they agree.
#pragma once

#include "hostnccl/communicator.h"
#include "hostnccl/unique_id.h"

namespace detccl::hostnccl {

/// Waits until all ranks have joined, as long as `patience` lasts; then the communicator is ready. `ring`
/// must be the same on every rank. Throws Error: another rank's failure to join is one for all.
void bootstrap(Communicator& communicator, const RootAddress& root, const Ring& ring,
               const Patience& patience);

}  // namespace detccl::hostnccl
