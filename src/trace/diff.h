// SPDX-License-Identifier: Apache-2.0
// Compares the traces of two runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/causes.h"
#include "trace/rank_diff.h"

namespace detccl::trace {

enum class Verdict : int { same = 0, different = 1, unusable = 2 };

struct RunDiff {
  Verdict verdict = Verdict::unusable;
  std::string reason;                         ///< for `unusable`
  std::vector<RankDiff> ranks;                ///< of the ranks in both; their candidates are in `findings`
  std::vector<Finding> findings;              ///< causes first
  std::vector<std::uint32_t> only_a, only_b;  ///< ranks
  std::uint64_t operations = 0;               ///< that were compared
};

/// Folders or files. `rank`: only this one. Same: nothing differs in what both have, and both have the same
/// ranks. Unusable: no difference, but something could not be compared.
RunDiff diff_runs(const std::string& a, const std::string& b, const std::optional<std::uint32_t>& rank,
                  const DiffOptions& options);

}  // namespace detccl::trace
