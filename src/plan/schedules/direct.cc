// SPDX-License-Identifier: Apache-2.0
// direct: the message is cut into n nearly equal shards. All-to-all of raw shards, ordered fold at the
// owner, then the results go to everyone (all_reduce) or to the root (reduce). S is the message
// (reduce_scatter: one shard), all sizes in payload bytes.
//
//                    stages  sent per rank                received                       peers  scratch
//   all_reduce       2       2 S (n-1)/n                  2 S (n-1)/n                    n-1    S (n-1)/n
//   reduce           2       S, the root S (n-1)/n        S (n-1)/n, the root twice      n-1    S
//   reduce_scatter   1       as gather, whose program it is: the shards are there already
//
// With blocks of B, ceil(n/B) S/n of scratch more. A message of fewer than n elements has empty shards:
// their owners fold nothing.
// Summation order: one fold of x_0 … x_{n-1} in the contract's order; with blocks, one fold per block and
// one of the blocks' results.
#include <algorithm>

#include "plan/schedules/raw_exchange.h"
#include "plan/schedules/regions.h"
#include "plan/schedules/schedules.h"

namespace detccl::plan::schedules {
namespace {

/// A message of `count` elements cut into one shard per rank; where shards are long, at multiples of 16
/// elements, so that vectors and cache lines stay whole.
class Shards {
 public:
  Shards(std::uint64_t count, std::uint32_t ranks) : count_(count) {
    if (count / ranks >= 4 * kGrain) grain_ = kGrain;
    const std::uint64_t units = count / grain_ + (count % grain_ != 0 ? 1 : 0);
    each_ = units / ranks;
    longer_ = units % ranks;
  }
  std::uint64_t begin(std::uint64_t i) const {
    return std::min(count_, (i * each_ + std::min(i, longer_)) * grain_);
  }
  std::uint64_t size(std::uint64_t i) const { return begin(i + 1) - begin(i); }

 private:
  static constexpr std::uint64_t kGrain = 16;
  std::uint64_t count_, grain_ = 1, each_ = 0;
  std::uint64_t longer_ = 0;  ///< the first so many shards have one unit more
};

/// Everybody's results but the own into the output.
void append_receives(Stage& stage, const Shards& shards, std::uint32_t rank, std::uint32_t n) {
  for (std::uint32_t k = 1; k < n; ++k) {
    const std::uint32_t peer = (rank + n - k) % n;
    if (shards.size(peer) != 0) {
      stage.receives.push_back({output(shards.begin(peer), shards.size(peer)), peer, 1});
    }
  }
}

}  // namespace

Program direct(const Spec& spec, std::uint32_t rank) {
  if (spec.collective == Collective::reduce_scatter) return gather(spec, rank);
  const std::uint32_t n = spec.ranks;
  const Shards shards(spec.count, n);
  Program program;
  const std::uint64_t own = shards.size(rank);
  Region result = output(shards.begin(rank), own);
  if (own != 0 && !has_output(spec, rank)) result = scratch(program, Form::final, own);
  const Owned owned = [&](std::uint32_t owner) { return input(shards.begin(owner), shards.size(owner)); };
  append_raw_exchange(program, spec, rank, owned, result);
  if (n == 1) return program;

  Stage results;
  if (spec.collective == Collective::all_reduce) {
    for (std::uint32_t k = 1; own != 0 && k < n; ++k)
      results.sends.push_back({result, (rank + k) % n, 1});
  } else if (own != 0 && rank != spec.root) {
    results.sends.push_back({result, spec.root, 1});
  }
  if (has_output(spec, rank)) append_receives(results, shards, rank, n);
  if (!results.sends.empty() || !results.receives.empty()) program.stages.push_back(std::move(results));
  return program;
}

}  // namespace detccl::plan::schedules
