// SPDX-License-Identifier: Apache-2.0
// MPI's own collectives, to compare with. send == receive: in place.
#pragma once

#include <cstdint>

#include "contract/types.h"

namespace detccl::perf {

struct Call;

/// Throws UsageError where MPI has no such type or operation, or counts of `count` are too large for it.
void check_mpi_supports(contract::DataType type, contract::Op op, std::uint64_t count);

void mpi_all_reduce(const Call& call);
void mpi_reduce_scatter(const Call& call);  ///< never in place: MPI puts the part elsewhere than NCCL does
void mpi_reduce(const Call& call);

}  // namespace detccl::perf
