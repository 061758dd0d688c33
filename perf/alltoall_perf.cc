// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "collective.h"

namespace detccl::perf {
namespace {

Source part_of_each_rank(const Receiver& r, std::uint64_t element) {
  const std::uint64_t mine = static_cast<std::uint64_t>(r.rank) * r.count;
  return {static_cast<int>(element / r.count), mine + element % r.count};
}

ncclResult_t alltoall(const Library& library, const Call& call, ncclComm_t comm, void* stream) {
  const std::size_t part = call.count * contract::size_of(call.type);
  const auto* send = static_cast<const std::byte*>(call.send);
  auto* receive = static_cast<std::byte*>(call.receive);
  const auto on = static_cast<cudaStream_t>(stream);
  ncclResult_t result = library.group_start();
  for (int peer = 0; peer < call.ranks && result == ncclSuccess; ++peer) {
    const std::size_t at = static_cast<std::size_t>(peer) * part;
    result = library.send(send + at, call.count, nccl_type(call.type), peer, comm, on);
    if (result == ncclSuccess)
      result = library.recv(receive + at, call.count, nccl_type(call.type), peer, comm, on);
  }
  const ncclResult_t end = library.group_end();
  return result != ncclSuccess ? result : end;
}

constexpr Collective kAlltoall{
    .program = "alltoall_perf",
    .name = "alltoall",
    .reduces = false,
    .sends_parts = true,
    .receives_parts = true,
    .rooted = false,
    .can_be_in_place = false,
    .receivers = Receivers::each_its_own,
    .bus_factor = [](int ranks) { return 1.0 * (ranks - 1) / ranks; },
    .source = part_of_each_rank,
    .nccl = alltoall,
    .mpi = nullptr,
};

}  // namespace
}  // namespace detccl::perf

int main(int argc, char** argv) {
  return detccl::perf::perf_main(argc, argv, detccl::perf::kAlltoall);
}
