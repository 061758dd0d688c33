// SPDX-License-Identifier: Apache-2.0
#include "simulate/replay.h"

#include <map>
#include <utility>

#include "simulate/closed_forms.h"
#include "simulate/waves.h"

namespace detccl::simulate {
namespace {

void append(Tick& tick, const Action& action, const Platform& platform) {
  tick.sends.insert(tick.sends.end(), action.sends.begin(), action.sends.end());
  tick.receives.insert(tick.receives.end(), action.receives.begin(), action.receives.end());
  if (action.folds > 0) {
    tick.folds = action.folds + (tick.fold_bytes > 0 ? tick.folds : 0);
    tick.fold_bytes += action.fold_bytes;
  }
  if (action.gathered > 0) tick.elsewhere += all_gather_seconds(platform, action.gathered);
  if (!action.sends.empty() || !action.receives.empty() || action.gathered > 0)
    tick.launch = platform.parameters.launch;
}

/// Of one lane.
Script script_of(std::uint32_t rank, std::uint32_t lane, const Waves& waves, const Platform& platform) {
  std::map<std::uint32_t, Tick> ticks;
  for (std::size_t w = lane; w < waves.tasks.size(); w += waves.lanes) {
    const auto start = static_cast<std::uint32_t>(w / waves.lanes * waves.interval);
    for (const std::size_t shape : waves.tasks[w])
      for (const Action& action : waves.shapes[shape].ranks[rank])
        append(ticks[start + action.tick], action, platform);
  }
  Script script;
  script.rank = rank;
  script.overlapped = waves.overlapped;
  for (auto& [number, tick] : ticks) {
    tick.number = number;
    for (auto* messages : {&tick.sends, &tick.receives})
      for (Message& m : *messages)
        m.peer += lane * platform.ranks();
    script.ticks.push_back(std::move(tick));
  }
  return script;
}

}  // namespace

std::vector<Script> replay(const Case& c, const Platform& platform, const engine::Settings& settings) {
  const Waves waves = arrange(c, platform.ranks(), settings);
  std::vector<Script> scripts;
  for (std::uint32_t lane = 0; lane < waves.lanes; ++lane) {
    for (std::uint32_t rank = 0; rank < platform.ranks(); ++rank) {
      Script script = script_of(rank, lane, waves, platform);
      if (lane > 0) script.after = scripts.size() - platform.ranks();
      scripts.push_back(std::move(script));
    }
  }
  return scripts;
}

}  // namespace detccl::simulate
