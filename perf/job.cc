// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>

namespace detccl::perf {
namespace {

/// How many processes the launcher announced; 1 where none did.
int announced_ranks() {
  int most = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) most = std::max(most, std::atoi(value));
  }
  return most;
}

}  // namespace

Job::Job(int& argc, char**& argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (ranks_ == 1 && announced_ranks() > 1) {
    MPI_Finalize();
    throw UsageError("the launcher started " + std::to_string(announced_ranks()) +
                     " processes, but each is alone: use the mpirun of the MPI that this was built with");
  }
}

Job::~Job() {
  MPI_Finalize();
}

void Job::barrier() const {
  MPI_Barrier(MPI_COMM_WORLD);
}

void Job::max_over_ranks(std::span<double> values) const {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
}

std::uint64_t Job::sum_over_ranks(std::uint64_t value) const {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

bool Job::same_on_all(std::uint64_t value) const {
  std::uint64_t least = value, most = value;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

void Job::broadcast(void* data, std::size_t bytes) const {
  MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void Job::abort() const {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

bool speaks_for_job() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  return rank == nullptr || std::atoi(rank) == 0;
}

}  // namespace detccl::perf
