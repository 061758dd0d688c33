// SPDX-License-Identifier: Apache-2.0
#include "rank_digest/ranks.h"

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "rank_digest/cost.h"
#include "values.h"

namespace detccl::perf::rank_digest {
namespace {

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(result) + " (" +
                             ncclGetLastError(nullptr) + ")");
}

/// From its making on, which waits for all ranks.
class Watch {
 public:
  Watch() {
    MPI_Barrier(MPI_COMM_WORLD);
    start_ = MPI_Wtime();
    used_ = processor_seconds();
  }
  Spent read(int ranks) const {
    const double own[] = {MPI_Wtime() - start_, processor_seconds() - used_};
    Spent spent;
    MPI_Allreduce(&own[0], &spent.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&own[1], &spent.processor_seconds, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    spent.processor_seconds /= ranks;
    return spent;
  }

 private:
  double start_ = 0, used_ = 0;
};

std::uint64_t digest(std::span<const float> buffer, std::size_t first_element) {
  return perf::digest(std::as_bytes(buffer), first_element * sizeof(float));
}

}  // namespace

Ranks::Ranks(int rank, int ranks) : rank_(rank), ranks_(ranks) {
  ncclUniqueId id{};
  if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  MPI_Bcast(&id, static_cast<int>(sizeof id), MPI_BYTE, 0, MPI_COMM_WORLD);
  const Watch watch;
  check(ncclCommInitRank(&communicator_, ranks, id, rank), "ncclCommInitRank");
  creation_ = watch.read(ranks);
}

Ranks::~Ranks() {
  ncclCommDestroy(communicator_);
}

std::uint64_t Ranks::all_reduce(std::span<const float> input, bool& alike) const {
  std::vector<float> output(input.size());
  check(ncclAllReduce(input.data(), output.data(), input.size(), ncclFloat, ncclSum, communicator_, nullptr),
        "ncclAllReduce");
  const std::uint64_t own = digest(output, 0);
  std::uint64_t least = 0, most = 0;
  MPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  alike = least == most;
  return own;
}

std::uint64_t Ranks::reduce_scatter(std::span<const float> input) const {
  const std::size_t shard = input.size() / static_cast<std::size_t>(ranks_);
  std::vector<float> output(shard);
  check(ncclReduceScatter(input.data(), output.data(), shard, ncclFloat, ncclSum, communicator_, nullptr),
        "ncclReduceScatter");
  const std::uint64_t own = digest(output, shard * static_cast<std::size_t>(rank_));
  std::uint64_t all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

Spent Ranks::call(std::uint64_t bytes, int calls) const {
  const std::vector<float> input(bytes / sizeof(float), 1.0F);
  std::vector<float> output(input.size());
  const auto reduce = [&] {
    check(
        ncclAllReduce(input.data(), output.data(), input.size(), ncclFloat, ncclSum, communicator_, nullptr),
        "ncclAllReduce");
  };
  reduce();
  const Watch watch;
  for (int i = 0; i < calls; ++i)
    reduce();
  Spent spent = watch.read(ranks_);
  spent.seconds /= calls;
  spent.processor_seconds /= calls;
  return spent;
}

}  // namespace detccl::perf::rank_digest
