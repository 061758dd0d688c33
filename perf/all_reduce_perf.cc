// SPDX-License-Identifier: Apache-2.0
#include "collective.h"
#include "mpi_peer.h"

namespace detccl::perf {
namespace {

ncclResult_t all_reduce(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.all_reduce(call.send, call.receive, call.count, nccl_type(call.type), nccl_op(call.op), comm,
                            static_cast<cudaStream_t>(stream));
}

constexpr Collective kAllReduce{
    .program = "all_reduce_perf",
    .name = "all_reduce",
    .reduces = true,
    .sends_parts = false,
    .receives_parts = false,
    .rooted = false,
    .can_be_in_place = true,
    .receivers = Receivers::all_the_same,
    .bus_factor = [](int ranks) { return 2.0 * (ranks - 1) / ranks; },
    .source = same_element,
    .nccl = all_reduce,
    .mpi = mpi_all_reduce,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kAllReduce);
}
