// SPDX-License-Identifier: Apache-2.0
// The page of `detccl report`: one HTML file with SVG charts, no scripts, nothing from elsewhere.
#pragma once

#include <string>

#include "cli/report_results.h"

namespace detccl::cli {

std::string report_page(const Results& results, const std::string& title);

}  // namespace detccl::cli
