// SPDX-License-Identifier: Apache-2.0
// The page of `detccl trace diff --html`: which ranks agree in which steps. One file, nothing from elsewhere.
#pragma once

#include <string>

#include "trace/diff.h"

namespace detccl::cli {

/// `a`, `b`: the traces' names, as they were given. The diff has RankDiff::steps.
std::string diff_html(const trace::RunDiff& diff, const std::string& a, const std::string& b);

}  // namespace detccl::cli
