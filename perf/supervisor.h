// SPDX-License-Identifier: Apache-2.0
// Starts this program again, once per rank and schedule, and passes on what the ranks tell each other. Under
// a launcher each of its processes supervises one rank; without one, one process supervises all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.h"
#include "report.h"

namespace detccl::perf {

struct Watch {
  std::vector<std::string> arguments;  ///< of this program, with its name
  int first_rank = 0;                  ///< of the ranks of this process
  int local_ranks = 1;                 ///< their number
  int ranks = 1;                       ///< of the job
  bool mpi = false;                    ///< other processes supervise the other ranks
  std::vector<Task> tasks;             ///< what the ranks do, to name what failed
  std::uint64_t timeout = 120;         ///< seconds without a word from a rank
};

/// Collective over the supervisors. Runs the tasks under each of `schedules` ("": as the environment says).
/// `report`: null where this process does not supervise rank 0.
void supervise(const Watch& watch, const std::vector<std::string>& schedules, Report* report);

}  // namespace detccl::perf
