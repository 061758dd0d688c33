// SPDX-License-Identifier: Apache-2.0
// What one rank of n has to do on the host, measured on the library's own code.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace detccl::perf::scaling {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values);  ///< not empty

/// A large AllReduce of float32, as the engine on host memory cuts it by default.
struct Planning {
  double first_us = 0;        ///< the first call of a shape: plans are built
  double later_us = 0;        ///< the next ones: plans are there
  std::size_t chunks = 0;     ///< jobs that the call becomes
  std::size_t transfers = 0;  ///< of one chunk's program
  std::size_t heap = 0;       ///< bytes that the plans take, as long as the communicator is there
};
/// Each figure: the largest of the ranks first, middle and last; each of those the median of `repeats`.
Planning plan_calls(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t bytes, int repeats);

/// The proof of the plan of one message, in place. Throws std::runtime_error where it fails.
double prove_seconds(plan::Schedule schedule, std::uint32_t ranks, std::uint64_t bytes);

/// What a rank does with what all ranks say of themselves when a communicator is made: compare the settings,
/// look for problems, find the groups of near ranks (8 a host).
struct Agreement {
  double us = 0;            ///< median of `repeats`
  std::size_t bytes = 0;    ///< that it gets from all ranks together
  std::uint32_t group = 0;  ///< that it found
};
Agreement agree(std::uint32_t ranks, int repeats);

/// A rank's trace: what it has of its communicators (all ranks, 8 near ones, every eighth), and of each
/// record.
struct Trace {
  std::size_t fixed_bytes = 0;
  double bytes_per_record = 0;
  double us_per_record = 0;  ///< to write them, digests given
};
Trace trace_size(std::uint32_t ranks);

}  // namespace detccl::perf::scaling
