// SPDX-License-Identifier: Apache-2.0
#include "plan/schedules/raw_exchange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/schedules/regions.h"

namespace detccl::plan::schedules {
namespace {

/// raw[r]: rank r's values. With blocks, each block is folded and rounded on its own, then the blocks'
/// results.
void append_folds(Program& program, Stage& stage, const Spec& spec, std::vector<Region> raw,
                  const Region& result) {
  const std::size_t block = spec.contract.block;
  if (block == 0 || raw.size() == 1) {
    stage.folds.push_back({std::move(raw), result});
    return;
  }
  std::vector<Region> blocks;
  for (std::size_t lo = 0; lo < raw.size(); lo += block) {
    const auto first = raw.begin() + static_cast<std::ptrdiff_t>(lo);
    const auto last = raw.begin() + static_cast<std::ptrdiff_t>(std::min(lo + block, raw.size()));
    blocks.push_back(scratch(program, Form::rounded, result.count));
    stage.folds.push_back({{first, last}, blocks.back()});
  }
  stage.folds.push_back({std::move(blocks), result});
}

}  // namespace

void append_raw_exchange(Program& program, const Spec& spec, std::uint32_t rank, const Owned& owned,
                         const Region& result) {
  Stage& stage = program.stages.emplace_back();
  const std::uint32_t n = spec.ranks;
  // Everyone starts at its successor, so that no rank is everybody's first destination.
  stage.sends.reserve(n - 1);
  for (std::uint32_t k = 1; k < n; ++k) {
    const std::uint32_t peer = (rank + k) % n;
    const Region part = owned(peer);
    if (part.count != 0) stage.sends.push_back({part, peer});
  }
  const Region own = owned(rank);
  if (own.count == 0) return;
  program.slots.reserve(n - 1);
  std::vector<Region> raw(n);
  for (std::uint32_t r = 0; r < n; ++r)
    raw[r] = r == rank ? own : scratch(program, Form::raw, own.count);
  stage.receives.reserve(n - 1);
  for (std::uint32_t k = 1; k < n; ++k) {
    const std::uint32_t peer = (rank + n - k) % n;
    stage.receives.push_back({raw[peer], peer});
  }
  append_folds(program, stage, spec, std::move(raw), result);
}

}  // namespace detccl::plan::schedules
