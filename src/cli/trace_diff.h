// SPDX-License-Identifier: Apache-2.0
// What `detccl trace diff` prints.
#pragma once

#include <string>
#include <vector>

#include "trace/diff.h"

namespace detccl::cli {

/// "all_reduce 17 on data_parallel", in one line.
std::string operation_text(const trace::Candidate& candidate);
/// "inputs differ: …": what happened, in one line.
std::string difference_text(const trace::Candidate& candidate);

/// What could not be compared, a line each, without a newline.
std::vector<std::string> diff_notes(const trace::RunDiff& diff);

/// Both end with a newline.
std::string diff_text(const trace::RunDiff& diff);
std::string diff_json(const trace::RunDiff& diff);

}  // namespace detccl::cli
