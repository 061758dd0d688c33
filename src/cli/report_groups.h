// SPDX-License-Identifier: Apache-2.0
// What of several sweeps belongs into one pair of charts: the same communicator, collective, type and
// operation.
#pragma once

#include <string>
#include <vector>

#include "cli/report_results.h"

namespace detccl::cli {

struct GroupSeries {
  std::string label;           ///< schedule, settings, and where two files have the same, the file
  std::vector<SweepRow> rows;  ///< by size
};

struct Group {
  std::string heading;  ///< "all_reduce, 8 ranks, bfloat16, sum"
  std::string setting;  ///< where, versions, contract
  std::string peer;
  std::vector<GroupSeries> series;
};

/// In the order in which they come in the sweeps. Rows are kept as they are, each in one series of one group.
std::vector<Group> groups_of(const std::vector<Sweep>& sweeps);

}  // namespace detccl::cli
