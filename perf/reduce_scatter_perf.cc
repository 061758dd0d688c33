// SPDX-License-Identifier: Apache-2.0
#include "collective.h"
#include "mpi_peer.h"

namespace detccl::perf {
namespace {

ncclResult_t reduce_scatter(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.reduce_scatter(call.send, call.receive, call.count, nccl_type(call.type), nccl_op(call.op),
                                comm, static_cast<cudaStream_t>(stream));
}

constexpr Collective kReduceScatter{"reduce_scatter_perf",
                                    "reduce_scatter",
                                    true,
                                    false,
                                    [](int ranks) { return 1.0 * (ranks - 1) / ranks; },
                                    reduce_scatter,
                                    mpi_reduce_scatter};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kReduceScatter);
}
