// SPDX-License-Identifier: Apache-2.0
// Compares two rows of records, communicator by communicator: streams may interleave otherwise in another
// run.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/align.h"
#include "trace/rank_trace.h"

namespace detccl::trace {

struct FirstDifference {
  Difference difference = Difference::inputs_differ;
  std::optional<Placed> a, b;
};

struct RecordDiff {
  std::optional<FirstDifference> first;
  std::uint64_t compared = 0;             ///< records of either that the other has too
  bool ended_a = false, ended_b = false;  ///< read to its end
  bool a_over = false, b_over = false;    ///< nothing of it is left to compare, nor missing at its end
  bool gave_up = false;                   ///< the rows were too far apart to go on
};

/// From where the cursors are to the end of either trace. Holds some hundred thousand records at most.
RecordDiff diff_records(RankCursor& a, RankCursor& b);

}  // namespace detccl::trace
