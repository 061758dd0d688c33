// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/lanes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace detccl::engine::stream {
namespace {

/// Of the beginning of a lane's scratch, bytes.
constexpr std::size_t kAlignment = 256;

/// Consecutive tasks, as many together as one wave takes.
std::vector<std::vector<Task>> in_waves(std::vector<Task> tasks, std::size_t most_scratch) {
  std::vector<std::vector<Task>> waves;
  std::uint64_t bytes = 0, limit = 0;
  std::size_t scratch = 0;
  for (Task& task : tasks) {
    const bool fits = !waves.empty() && bytes + task.bytes <= std::min(limit, task.wave_bytes) &&
                      scratch + task.program->scratch <= most_scratch;
    if (!fits) {
      waves.emplace_back();
      bytes = scratch = 0;
      limit = task.wave_bytes;
    }
    bytes += task.bytes;
    limit = std::min(limit, task.wave_bytes);
    scratch += task.program->scratch;
    waves.back().push_back(std::move(task));
  }
  return waves;
}

}  // namespace

std::size_t lane_scratch(std::size_t scratch_limit, std::uint32_t lanes) {
  return lanes == 1 ? scratch_limit : scratch_limit / lanes / kAlignment * kAlignment;
}

std::vector<Batch> deal(std::vector<Task> tasks, std::size_t scratch_limit, std::uint32_t lanes) {
  std::vector<Batch> batches;
  const std::size_t each = lane_scratch(scratch_limit, lanes);
  std::vector<std::vector<Task>> waves;
  if (lanes > 1) waves = in_waves(tasks, each);
  if (waves.size() < 2) {
    batches.emplace_back(std::move(tasks), scratch_limit);
    return batches;
  }
  std::vector<std::vector<Task>> dealt(std::min<std::size_t>(lanes, waves.size()));
  for (std::size_t w = 0; w < waves.size(); ++w) {
    auto& lane = dealt[w % dealt.size()];
    std::move(waves[w].begin(), waves[w].end(), std::back_inserter(lane));
  }
  for (std::vector<Task>& lane : dealt)
    batches.emplace_back(std::move(lane), each, Batch::Pace::one_by_one);
  return batches;
}

}  // namespace detccl::engine::stream
