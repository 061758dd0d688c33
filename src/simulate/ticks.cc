// SPDX-License-Identifier: Apache-2.0
#include "simulate/ticks.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "simulate/closed_forms.h"
#include "simulate/waves.h"

namespace detccl::simulate {
namespace {

/// Of all ranks in one tick.
struct Load {
  std::vector<double> links;  ///< seconds that their bytes take
  double latency = 0, elsewhere = 0;
  double fold_bytes = 0;  ///< the most of all ranks, like the rest
  std::uint32_t transfers = 0, folds = 0;
  bool any = false;

  void add(const Load& other) {
    if (links.size() < other.links.size()) links.resize(other.links.size());
    for (std::size_t i = 0; i < other.links.size(); ++i)
      links[i] += other.links[i];
    latency = std::max(latency, other.latency);
    elsewhere += other.elsewhere;
    fold_bytes += other.fold_bytes;
    transfers += other.transfers;
    folds += other.folds;
    any = any || other.any;
  }
};

constexpr std::size_t kKinds = static_cast<std::size_t>(LinkKind::bus) + 1;

void add_messages(Load& load, std::uint32_t rank, const Action& action, const Platform& platform) {
  load.links.resize(kKinds * platform.ranks());
  std::uint32_t transfers = 0;
  for (const Message& m : action.sends) {
    double latency = 0;
    for (const Link& link : platform.route(rank, m.peer)) {
      load.links[static_cast<std::size_t>(link.kind) * platform.ranks() + link.index] +=
          m.bytes / platform.bandwidth(link);
      latency += platform.latency(link);
    }
    load.latency = std::max(load.latency, latency);
    transfers += m.transfers;
  }
  load.transfers = std::max(load.transfers, transfers);
}

std::vector<Load> loads_of(const Shape& shape, const Platform& platform) {
  std::vector<Load> loads(shape.length + 1);
  for (std::uint32_t rank = 0; rank < platform.ranks(); ++rank) {
    for (const Action& action : shape.ranks[rank]) {
      Load& load = loads[action.tick];
      if (!action.sends.empty()) add_messages(load, rank, action, platform);
      if (action.gathered > 0)
        load.elsewhere = std::max(load.elsewhere, all_gather_seconds(platform, action.gathered));
      load.any = load.any || !action.sends.empty() || action.gathered > 0;
      load.fold_bytes = std::max(load.fold_bytes, action.fold_bytes);
      load.folds = std::max(load.folds, action.folds);
    }
  }
  return loads;
}

/// Of all waves that are under way in a tick.
Load load_at(std::uint32_t tick, const Waves& waves, const std::vector<std::vector<Load>>& loads) {
  Load all;
  for (std::size_t w = 0; w < waves.tasks.size() && w * waves.interval <= tick; ++w) {
    const std::size_t since = tick - w * waves.interval;
    for (const std::size_t shape : waves.tasks[w])
      if (since < loads[shape].size()) all.add(loads[shape][since]);
  }
  return all;
}

}  // namespace

double ticks_seconds(const Case& c, const Platform& platform, const engine::Settings& settings) {
  const plan::Kind kind = settings.schedule.value().kind;
  if (kind == plan::Kind::ring || kind == plan::Kind::tree)
    throw std::invalid_argument("too many messages to simulate");
  const Waves waves = arrange(c, platform.ranks(), settings);
  std::vector<std::vector<Load>> loads;
  for (const Shape& shape : waves.shapes)
    loads.push_back(loads_of(shape, platform));
  std::size_t ticks = 0;
  for (const auto& list : loads)
    ticks = std::max(ticks, list.size());
  ticks += (waves.tasks.size() - 1) * waves.interval;

  const Parameters& q = platform.parameters;
  const double bandwidth = waves.overlapped ? q.fold_bandwidth_beside : q.fold_bandwidth;
  double end = 0, folded = 0;
  std::deque<std::pair<std::uint32_t, double>> folds;  // ticks and when their folds are complete
  for (std::uint32_t t = 0; t < ticks; ++t) {
    const Load load = load_at(t, waves, loads);
    if (load.any) {
      double start = end + q.launch;
      while (!folds.empty() && folds.front().first + (waves.overlapped ? 2 : 1) <= t) {
        start = std::max(start, folds.front().second);
        folds.pop_front();
      }
      double moving = 0;
      if (!load.links.empty()) moving = *std::max_element(load.links.begin(), load.links.end());
      if (load.transfers > 1) moving = std::max(moving, (load.transfers - 1) * q.transfer);
      end = start + load.latency + moving + load.elsewhere;
    }
    if (load.folds == 0) continue;
    folded = std::max(folded, end) + fold_seconds(q, load.fold_bytes, load.folds, bandwidth);
    folds.emplace_back(t, folded);
  }
  return std::max(end, folded);
}

}  // namespace detccl::simulate
