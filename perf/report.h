// SPDX-License-Identifier: Apache-2.0
// Results as a table in nccl-tests' columns and as JSON (perf/README.md).
#pragma once

#include <string>
#include <vector>

#include "check.h"
#include "measure.h"
#include "options.h"

namespace detccl::perf {

struct Row {
  std::uint64_t bytes = 0, count = 0;
  Timing timing;
  Verdict verdict;
};

/// What was measured, and with what.
struct Setting {
  std::string collective;  ///< "all_reduce"
  int ranks = 1;
  double bus_factor = 1.0;  ///< busbw / algbw
};

std::string table_head(const Options& options, const Setting& setting);
std::string table_row(const Options& options, const Setting& setting, const Row& row);
std::string json(const Options& options, const Setting& setting, const std::vector<Row>& rows);

}  // namespace detccl::perf
