// SPDX-License-Identifier: Apache-2.0
// Drives executions to their end on the calling thread.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "engine/execution.h"

namespace detccl::engine {

/// Asked about every 10 ms while waiting: why to give up (a peer died, the call was aborted, time is up), or
/// nothing to go on. It may take a while itself.
using Watch = std::function<std::string()>;

struct Outcome {
  Status status = Status::done;  ///< done or failed
  std::string failure;           ///< one line, when failed
};

/// Moves all executions on until they are done or one fails or the watch gives up; then those that still run
/// are to be destroyed, which abandons their exchanges. Uses the processor while it waits, but yields it to
/// others: there may be more ranks than cores.
Outcome run(std::span<Execution* const> executions, const Watch& watch);

}  // namespace detccl::engine
