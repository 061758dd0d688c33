// SPDX-License-Identifier: Apache-2.0
// From a collective call to the jobs that the engine runs: the program, and the message's slices.
#pragma once

#include <vector>

#include "engine/execution.h"
#include "hostnccl/operation.h"
#include "hostnccl/ring_programs.h"

namespace detccl::hostnccl {

/// Bytes of a slice: what one rank passes on to the next at a time (of each chunk, in a ring reduction).
inline constexpr std::uint64_t kSliceBytes = 256u << 10;

struct Work {
  device::host::Arithmetic arithmetic;
  std::vector<engine::Job> jobs;
};

/// `operation` is a collective (no send or receive) with a count above 0; PreMulSum's factor is read here
/// where the operation says so.
Work work_of(const Operation& operation, const Ring& ring, std::uint32_t rank);

}  // namespace detccl::hostnccl
