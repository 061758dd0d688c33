// SPDX-License-Identifier: Apache-2.0
// The operations of an imagined training run, for traces without a job: groups of ranks as of tensor
// parallelism, the same place of every group as of data parallelism, and a ring of sends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/record.h"
#include "trace/run_info.h"
#include "trace/tables.h"

namespace detccl::perf {

struct Shape {
  std::uint32_t ranks = 8;  ///< a multiple of `group`
  std::uint32_t steps = 4;
  std::uint32_t operations = 20;  ///< a step, even
  std::uint32_t group = 4;
  std::uint32_t first_step = 0;  ///< steps first_step … steps-1 are run, as after resuming
};

/// World, group, across the groups; in this order of creation.
std::vector<trace::Communicator> communicators_of(const Shape& shape, std::uint32_t rank);

/// All operations of a rank, in order, without digests. All ranks have the same kind of operation in the same
/// place. The phase of a record is 1 + its place in kPhases.
std::vector<trace::Record> operations_of(const Shape& shape, std::uint32_t rank);

inline constexpr const char* kPhases[] = {"forward", "backward", "optimizer"};

trace::RunInfo run_info_of(const Shape& shape, std::uint32_t rank);

/// Fills in digests that depend on rank, step and operation alone.
void fill_digests(std::vector<trace::Record>& records, std::uint32_t rank, std::uint64_t seed);

/// Writes one rank's file and closes it; throws std::runtime_error if that fails. The file's path.
std::string write_rank(const std::string& folder, const Shape& shape, std::uint32_t rank,
                       const std::vector<trace::Record>& records);

}  // namespace detccl::perf
