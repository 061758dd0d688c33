// SPDX-License-Identifier: Apache-2.0
// Jobs that were made up, whose summaries the plugin's own code writes, and what `detccl overhead` says of
// them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "communicator.h"
#include "support/command.h"

namespace detccl::test {

struct Job {
  int ranks = 8, calls = 40;
  int late = -1;        ///< a rank that comes late
  double slow = 1;      ///< factor of schedule "tree"
  double ours = 1.2;    ///< DetCCL's time over native
  bool native = false;  ///< NCCL's own, in place of DetCCL's
  std::uint64_t number = 0x1000;
  unsigned seed = 1;
};

/// A call of DetCCL's that was timed.
void our_call(profiler::Communicator& c, const Job& job, int rank, const char* schedule,
              std::uint64_t elements, std::uint64_t nanoseconds);

/// All ranks' summaries; where they are.
std::string write_job(const Folder& folder, const std::string& name, const Job& job);

struct Answer {
  Outcome outcome;
  nlohmann::json document;
};
/// Of `detccl overhead` with these arguments.
Answer overhead(const Folder& folder, const std::string& arguments);

}  // namespace detccl::test
