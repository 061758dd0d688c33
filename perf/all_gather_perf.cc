// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

namespace detccl::perf {
namespace {

Source of_rank_in_turn(const Receiver& r, std::uint64_t element) {
  return {static_cast<int>(element / r.count), element % r.count};
}

ncclResult_t all_gather(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.all_gather(call.send, call.receive, call.count, nccl_type(call.type), comm,
                            static_cast<cudaStream_t>(stream));
}

constexpr Collective kAllGather{
    .program = "all_gather_perf",
    .name = "all_gather",
    .reduces = false,
    .sends_parts = false,
    .receives_parts = true,
    .rooted = false,
    .can_be_in_place = true,
    .receivers = Receivers::all_the_same,
    .bus_factor = [](int ranks) { return 1.0 * (ranks - 1) / ranks; },
    .source = of_rank_in_turn,
    .nccl = all_gather,
    .mpi = nullptr,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kAllGather);
}
