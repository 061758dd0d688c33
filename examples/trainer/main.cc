// SPDX-License-Identifier: Apache-2.0
// A data-parallel training program as people write them: plain nccl.h, started with mpirun.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "communicator.h"
#include "device.h"
#include "digits.h"
#include "options.h"
#include "report.h"
#include "training.h"

namespace trainer {
namespace {

/// Whether this process speaks for the job, asked before MPI is up.
bool speaks() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank == nullptr) rank = std::getenv("PMI_RANK");
  return rank == nullptr || std::atoi(rank) == 0;
}

int rank_on_this_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_free(&machine);
  return rank;
}

void train(const Options& options, int rank, int ranks) {
  const Digits digits = read_digits(options.data);
  const std::unique_ptr<Device> device = open_device(options.device, rank_on_this_machine());
  Communicator comm(*device, rank, ranks);
  Training training(comm, options, digits);

  Result result;
  const bool print_steps = rank == 0 && !options.quiet && !options.json;
  const auto start = std::chrono::steady_clock::now();
  training.run([&](const Step& step) {
    result.steps.push_back(step);
    if (print_steps) std::printf("%s\n", step_line(step).c_str());
  });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check_agreement(training.digest());
  comm.finish();
  if (rank != 0) return;
  result.digest = training.digest();
  result.accuracy = training.accuracy();
  result.ranks = ranks;
  result.device = device->name();
  result.nccl = nccl_version();
  std::printf("%s\n", options.json ? json(result, options).c_str() : summary(result).c_str());
}

}  // namespace
}  // namespace trainer

int main(int argc, char** argv) {
  const trainer::Parsed parsed = trainer::parse_options(argc, argv);
  if (!parsed.run) {
    if (trainer::speaks()) std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    trainer::train(parsed.options, rank, ranks);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trainer: rank %d: %s\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
