// SPDX-License-Identifier: Apache-2.0
// Which ranks' first differences can be causes, and which only follow from another rank's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trace/rank_diff.h"

namespace detccl::trace {

struct Finding {
  Candidate candidate;
  /// A rank that gave data to this operation at or after its own first difference. Then this candidate can
  /// be a consequence only: the rank got other data. Without one nothing that was traced explains it.
  std::optional<std::uint32_t> follows;
  bool is_cause() const { return !follows; }
};

/// Opens A's trace of a rank; null if that fails.
using OpenRank = std::function<std::unique_ptr<RankTrace>(std::uint32_t rank)>;

/// Every candidate comes before all else on its rank, so what the rank got until then was the same in both
/// runs: a difference in an input, or in which operation is called, began on the rank itself. A difference in
/// an output alone follows from any rank that takes part with data and had differed before, or with this
/// operation's input; if there is none, the operation itself is the cause. Reads, of the ranks with
/// candidates, the records from there to the last candidate's step.
/// Causes first, then by step and place.
std::vector<Finding> find_causes(std::vector<Candidate> candidates, const OpenRank& open);

}  // namespace detccl::trace
