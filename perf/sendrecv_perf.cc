// SPDX-License-Identifier: Apache-2.0
#include "collective.h"

namespace detccl::perf {
namespace {

// Each rank sends to the next one and receives from the one before.
Source of_rank_before(const Receiver& r, std::uint64_t element) {
  return {(r.rank + r.ranks - 1) % r.ranks, element};
}

ncclResult_t sendrecv(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  const int next = (call.rank + 1) % call.ranks, before = (call.rank + call.ranks - 1) % call.ranks;
  const auto on = static_cast<cudaStream_t>(stream);
  ncclResult_t result = library.group_start();
  if (result == ncclSuccess)
    result = library.send(call.send, call.count, nccl_type(call.type), next, comm, on);
  if (result == ncclSuccess)
    result = library.recv(call.receive, call.count, nccl_type(call.type), before, comm, on);
  const ncclResult_t end = library.group_end();
  return result != ncclSuccess ? result : end;
}

constexpr Collective kSendrecv{
    .program = "sendrecv_perf",
    .name = "sendrecv",
    .reduces = false,
    .sends_parts = false,
    .receives_parts = false,
    .rooted = false,
    .can_be_in_place = false,
    .receivers = Receivers::each_its_own,
    .bus_factor = [](int) { return 1.0; },
    .source = of_rank_before,
    .nccl = sendrecv,
    .mpi = nullptr,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kSendrecv);
}
