// SPDX-License-Identifier: Apache-2.0
// The processes that mpirun started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace detccl::perf {

/// Bad usage found after the command line was parsed: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// MPI, from init to finalize. All functions but the accessors are collective.
class Job {
 public:
  /// Throws UsageError where the launcher announced more than one process and MPI sees one: a job started
  /// with another MPI's mpirun would time nothing.
  Job(int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  void barrier() const;
  /// Replaces each value by the largest of all ranks.
  void max_over_ranks(std::span<double> values) const;
  std::uint64_t sum_over_ranks(std::uint64_t value) const;
  /// Whether all ranks give the same value.
  bool same_on_all(std::uint64_t value) const;
  void broadcast(void* data, std::size_t bytes) const;  ///< from rank 0

  /// Kills the job.
  [[noreturn]] void abort() const;

 private:
  int rank_ = 0, ranks_ = 1;
};

/// Whether this process speaks for the job, asked before MPI is up.
bool speaks_for_job();

}  // namespace detccl::perf
