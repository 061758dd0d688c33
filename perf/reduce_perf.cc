// SPDX-License-Identifier: Apache-2.0
#include "collective.h"
#include "mpi_peer.h"

namespace detccl::perf {
namespace {

ncclResult_t reduce(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.reduce(call.send, call.receive, call.count, nccl_type(call.type), nccl_op(call.op),
                        call.root, comm, static_cast<cudaStream_t>(stream));
}

constexpr Collective kReduce{"reduce_perf",           "reduce", false,     true,
                             [](int) { return 1.0; }, reduce,   mpi_reduce};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kReduce);
}
