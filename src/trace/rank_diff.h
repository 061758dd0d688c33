// SPDX-License-Identifier: Apache-2.0
// Compares one rank's two traces: where, in its own execution order, they first differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/align.h"
#include "trace/rank_trace.h"

namespace detccl::trace {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;  ///< bytes of the payload, end not included
};

/// The first difference of a rank.
struct Candidate {
  std::uint32_t rank = 0;
  Difference difference = Difference::inputs_differ;
  std::optional<RankRecord> a, b;  ///< the operation; `b` is none for `missing`, `a` for `extra`
  std::string phase;
  std::optional<Communicator> communicator;
  bool after_end = false;         ///< `missing`, `extra`: the other trace has nothing after this
  std::vector<ByteRange> ranges;  ///< chunks that differ, if both traces have their digests

  const Record& operation() const { return a ? a->record : b->record; }
  std::uint32_t step() const { return operation().step; }
};

enum class Agreement : std::uint8_t { same, different, only_a, only_b };

struct StepAgreement {
  std::uint32_t step = 0;
  Agreement agreement = Agreement::same;  ///< only_a, only_b: also where the other one broke off within it
  bool more_in_a = false;                 ///< operations
};

struct DiffOptions {
  std::uint32_t until = kNoStep;  ///< the last step to look at
  bool ignore_rollups = false;    ///< go through all records
  bool steps = false;             ///< fill RankDiff::steps
};

struct RankDiff {
  std::uint32_t rank = 0;
  std::string unusable;  ///< why there is nothing to say, or empty
  std::optional<Candidate> candidate;
  std::uint64_t operations = 0;  ///< that were compared, and are the same
  bool by_rollups = false;       ///< no record was read: all rollups are the same
  std::vector<StepAgreement> steps;
  std::vector<std::string> notes;  ///< what could not be compared
};

/// Rollups first, records from the first step on whose rollups differ.
RankDiff diff_rank(const RankTrace& a, const RankTrace& b, const DiffOptions& options);

}  // namespace detccl::trace
