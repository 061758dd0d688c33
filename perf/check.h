// SPDX-License-Identifier: Apache-2.0
// Whether a collective's results are the contract's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "job.h"
#include "options.h"
#include "values.h"

namespace detccl::perf {

struct Verdict {
  std::uint64_t checked = 0;  ///< elements compared with the reference evaluator, over all ranks
  std::uint64_t wrong = 0;    ///< those whose bits differ
  bool ranks_agree = true;    ///< all ranks hold the same bits, in all elements

  bool good() const { return wrong == 0 && ranks_agree; }
  void add(const Verdict& other);
};

/// Collective. `result`: this rank's, of an AllReduce of `values`. Compares a sample of elements (all of a
/// small result; the ends and places spread over a large one) with the reference, and whole results between
/// ranks.
Verdict check_all_reduce(const Job& job, const Options& options, const Values& values,
                         std::span<const std::byte> result);

}  // namespace detccl::perf
