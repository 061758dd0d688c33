// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/overhead_findings.h"

namespace detccl::cli {

struct OverheadReport {
  Summaries summaries;
  std::optional<Baseline> baseline;
  std::vector<Straggler> stragglers;
  std::vector<SlowSchedule> slow_schedules;
};

std::string overhead_text(const OverheadReport& report);
/// A document of format detccl-overhead-1.
std::string overhead_json(const OverheadReport& report);

}  // namespace detccl::cli
