// SPDX-License-Identifier: Apache-2.0
#include "collective.h"
#include "mpi_peer.h"

namespace detccl::perf {
namespace {

Source part_of_receiver(const Receiver& r, std::uint64_t element) {
  return {0, static_cast<std::uint64_t>(r.rank) * r.count + element};
}

ncclResult_t reduce_scatter(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.reduce_scatter(call.send, call.receive, call.count, nccl_type(call.type), nccl_op(call.op),
                                comm, static_cast<cudaStream_t>(stream));
}

constexpr Collective kReduceScatter{
    .program = "reduce_scatter_perf",
    .name = "reduce_scatter",
    .reduces = true,
    .sends_parts = true,
    .receives_parts = false,
    .rooted = false,
    .can_be_in_place = true,
    .receivers = Receivers::each_its_own,
    .bus_factor = [](int ranks) { return 1.0 * (ranks - 1) / ranks; },
    .source = part_of_receiver,
    .nccl = reduce_scatter,
    .mpi = mpi_reduce_scatter,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kReduceScatter);
}
