// SPDX-License-Identifier: Apache-2.0
// MPI's own collectives, to compare with.
#pragma once

#include <cstdint>

#include "contract/types.h"

namespace detccl::perf {

/// Throws UsageError where MPI has no such type or operation, or counts of `count` are too large for it.
void check_mpi_supports(contract::DataType type, contract::Op op, std::uint64_t count);

/// send == receive: in place.
void mpi_all_reduce(const void* send, void* receive, std::uint64_t count, contract::DataType type,
                    contract::Op op);

}  // namespace detccl::perf
