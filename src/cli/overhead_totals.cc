// SPDX-License-Identifier: Apache-2.0
#include "cli/overhead_totals.h"

#include <algorithm>
#include <numeric>

namespace detccl::cli {

double step_share(const Operations& operations) {
  const auto& shares = operations.step_shares;
  if (shares.empty()) return -1;
  return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
}

Total total_of(const CommunicatorSummary& c, const Baseline* baseline) {
  Total total;
  for (const auto& [key, operations] : c.operations) {
    total.calls += operations.count;
    total.phases.add(operations.phases);
    const double share = step_share(operations);
    total.of_steps += std::max(share, 0.0);
    if (share < 0 && operations.in_steps != 0) total.steps_known = false;
    if (operations.clock == Clock::none) continue;
    const Cost cost = cost_of(operations);
    const auto count = static_cast<double>(operations.count);
    total.time += count * (cost.own + cost.waiting);
    total.waiting += count * cost.waiting;
    const auto compared = compare(baseline, key, c.size, operations);
    if (!compared) continue;
    const double native = cost.own / (1 + compared->overhead.ratio);
    total.ours += count * cost.own;
    total.native += count * native;
    if (share > 0) total.overhead_of_steps += share * (cost.own - native) / (cost.own + cost.waiting);
  }
  return total;
}

}  // namespace detccl::cli
