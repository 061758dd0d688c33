// SPDX-License-Identifier: Apache-2.0
#include "collective.h"
#include "mpi_peer.h"

namespace detccl::perf {
namespace {

ncclResult_t reduce(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.reduce(call.send, call.receive, call.count, nccl_type(call.type), nccl_op(call.op),
                        call.root, comm, static_cast<cudaStream_t>(stream));
}

constexpr Collective kReduce{
    .program = "reduce_perf",
    .name = "reduce",
    .reduces = true,
    .sends_parts = false,
    .receives_parts = false,
    .rooted = true,
    .can_be_in_place = true,
    .receivers = Receivers::root,
    .bus_factor = [](int) { return 1.0; },
    .source = same_element,
    .nccl = reduce,
    .mpi = mpi_reduce,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kReduce);
}
