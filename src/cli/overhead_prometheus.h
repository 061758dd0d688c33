// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/overhead_report.h"

namespace detccl::cli {

/// As metrics in Prometheus's text format, for a node exporter's folder of text files.
std::string overhead_prometheus(const OverheadReport& report);

}  // namespace detccl::cli
