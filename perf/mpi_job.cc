// SPDX-License-Identifier: Apache-2.0
#include "mpi_job.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace detccl::perf {

int announced_ranks() {
  int most = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) most = std::max(most, std::atoi(value));
  }
  return most;
}

bool speaks_for_job() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  return rank == nullptr || std::atoi(rank) == 0;
}

MpiJob::World MpiJob::begin(int& argc, char**& argv) {
  MPI_Init(&argc, &argv);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  if (world.ranks == 1 && announced_ranks() > 1) {
    MPI_Finalize();
    throw UsageError("the launcher started " + std::to_string(announced_ranks()) +
                     " processes, but each is alone: use the mpirun of the MPI that this was built with");
  }
  return world;
}

MpiJob::MpiJob(int& argc, char**& argv) : MpiJob(begin(argc, argv)) {
}

MpiJob::~MpiJob() {
  MPI_Finalize();
}

void MpiJob::exchange(const Slot& mine, std::span<Slot> all) {
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

void MpiJob::gather_patiently(const void* mine, void* all, std::size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE,
                 MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void MpiJob::abort() const {
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

}  // namespace detccl::perf
