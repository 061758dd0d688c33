// SPDX-License-Identifier: Apache-2.0
// The processes that mpirun started.
#pragma once

#include "job.h"

namespace detccl::perf {

/// How many processes the launcher announced; 1 where none did.
int announced_ranks();

/// Whether this process speaks for the job, asked before MPI is up.
bool speaks_for_job();

/// MPI, from init to finalize; one object in a process.
class MpiJob : public Job {
 public:
  /// Throws UsageError where the launcher announced more than one process and MPI sees one: a job started
  /// with another MPI's mpirun would time nothing.
  MpiJob(int& argc, char**& argv);
  ~MpiJob() override;

  /// As exchange(), of `bytes` bytes a rank, but waits asleep: for processes that watch over others.
  static void gather_patiently(const void* mine, void* all, std::size_t bytes);

  /// Kills the job.
  [[noreturn]] void abort() const;

 protected:
  void exchange(const Slot& mine, std::span<Slot> all) override;

 private:
  struct World {
    int rank = 0, ranks = 1;
  };
  static World begin(int& argc, char**& argv);
  explicit MpiJob(World world) : Job(world.rank, world.ranks) {}
};

}  // namespace detccl::perf
