// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

namespace detccl::perf {
namespace {

Source of_root(const Receiver& r, std::uint64_t element) {
  return {r.root, element};
}

ncclResult_t broadcast(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  return library.broadcast(call.send, call.receive, call.count, nccl_type(call.type), call.root, comm,
                           static_cast<cudaStream_t>(stream));
}

constexpr Collective kBroadcast{
    .program = "broadcast_perf",
    .name = "broadcast",
    .reduces = false,
    .sends_parts = false,
    .receives_parts = false,
    .rooted = true,
    .can_be_in_place = true,
    .receivers = Receivers::all_the_same,
    .bus_factor = [](int) { return 1.0; },
    .source = of_root,
    .nccl = broadcast,
    .mpi = nullptr,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kBroadcast);
}
