// SPDX-License-Identifier: Apache-2.0
// The trace files of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace detccl::trace {

/// Each rank's files, part 0 first.
using RankFiles = std::map<std::uint32_t, std::vector<std::string>>;

/// Of a folder, or one file (its rank's only part). Empty, and the reason in `error`, if there are none.
RankFiles list_ranks(const std::string& path, std::string& error);

/// Calls for 0 … count-1, on as many threads as there are cores; what a call throws ends the program.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& call);

}  // namespace detccl::trace
