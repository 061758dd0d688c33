// SPDX-License-Identifier: Apache-2.0
// Whether a collective's results are the contract's, in every bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "collective.h"
#include "contract/contract.h"
#include "job.h"
#include "values.h"

namespace detccl::perf {

struct Verdict {
  std::uint64_t checked = 0;      ///< results compared with the reference evaluator, over ranks and checks
  std::uint64_t wrong_ranks = 0;  ///< those of them that differ
  bool ranks_agree = true;        ///< where all should hold the same: they do, right or wrong
  /// Ranks whose result was another with the same buffer in two calls, or on another communicator.
  std::optional<std::uint64_t> split_wrong, communicator_wrong;

  bool good() const { return wrong_ranks == 0; }
  void add(const Verdict& other);
};

/// What is to be checked: the inputs and what was called.
struct Expected {
  const Collective& collective;
  const contract::Contract& contract;
  const Values& values;
  Call call;
};

/// digest() of a whole buffer, on this rank's share of the processors.
std::uint64_t parallel_digest(int ranks, std::span<const std::byte> data);

/// Collective. `result`: what this rank received of the call; empty where it should receive nothing. Every
/// element is compared, by a digest; the ranks share the reference evaluator's work.
Verdict check_result(Job& job, const Expected& expected, std::span<const std::byte> result);

}  // namespace detccl::perf
