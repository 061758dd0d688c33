// SPDX-License-Identifier: Apache-2.0
// The prover executes the programs of all ranks symbolically. It accepts only if every output element of
// every rank holds exactly the contract's expression, transfers pair up in order with equal counts and forms,
// nothing is read before it is written or overwritten while it is needed, the input is never written, and no
// rank can wait for ever even if every send blocks until its receive is posted.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "plan/plan.h"

namespace detccl::plan {

struct Proof {
  bool proved = false;
  std::string failure;  ///< one line: rank, stage, region and what is wrong there; empty when proved
};

/// Proves all pieces of `spec`, and that together they write every output element once.
/// `in_place`: the output is the input (reduce_scatter: the rank's own shard of it; reduce: at the root).
Proof prove(const Spec& spec, bool in_place);

/// Proves the given programs, one per rank, against `spec` (which must be one piece).
Proof prove(const Spec& spec, std::span<const Program> programs, bool in_place);

}  // namespace detccl::plan
