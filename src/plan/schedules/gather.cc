// SPDX-License-Identifier: Apache-2.0
// gather: everyone sends its raw input to everyone who gets a result, and folds locally. S is the message
// (reduce_scatter: one shard), all sizes in payload bytes.
//
//                    stages   sent per rank      received        peers   scratch
//   all_reduce       1        (n-1) S            (n-1) S         n-1     (n-1) S
//   reduce_scatter   1        (n-1) S            (n-1) S         n-1     (n-1) S
//   reduce           1        S, the root 0      0, root (n-1) S 1, n-1  0, root (n-1) S
//
// With blocks of B, ceil(n/B) S of scratch more where values are folded.
// Summation order: one fold of x_0 … x_{n-1} in the contract's order; with blocks, one fold per block and
// one of the blocks' results.
#include "plan/schedules/raw_exchange.h"
#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {

Program gather(const Spec& spec, std::uint32_t rank) {
  Program program;
  if (!has_output(spec, rank)) {
    program.stages.push_back({{{input(0, spec.count), spec.root}}, {}, {}});
    return program;
  }
  const Owned owned = [&](std::uint32_t owner) {
    if (spec.collective == Collective::reduce_scatter) return input(owner * spec.stride, spec.count);
    return input(0, has_output(spec, owner) ? spec.count : 0);
  };
  append_raw_exchange(program, spec, rank, owned, output(0, spec.count));
  return program;
}

}  // namespace detccl::plan::schedules
