// SPDX-License-Identifier: Apache-2.0
#include "engine/stream/timeline.h"

#include <algorithm>

namespace detccl::engine::stream {

void Timeline::begin(std::uint32_t ticks) {
  // Without the last mark: a tick's transfers and its folds, and where it is not followed by one that is
  // timed, the rest.
  constexpr std::uint32_t kWhole = (kMostMarks - 1) / 2, kParted = (kMostMarks - 1) / 3;
  marks_.clear();
  every_ = ticks <= kWhole ? 1 : (ticks + kParted - 1) / kParted;
}

bool Timeline::enter(Part part, std::uint32_t tick) {
  return turn_to(tick % every_ == 0 ? part : Part::rest);
}

bool Timeline::end() {
  return turn_to(Part::rest);
}

bool Timeline::turn_to(Part part) {
  if (part == (marks_.empty() ? Part::rest : marks_.back())) return false;
  marks_.push_back(part);
  return true;
}

Timeline::Times Timeline::sums(std::span<const std::uint64_t> between) const {
  Times times{};
  for (std::size_t i = 0; i < std::min(between.size(), marks_.size()); ++i) {
    if (marks_[i] != Part::rest) times[static_cast<std::size_t>(marks_[i])] += between[i];
  }
  return times;
}

}  // namespace detccl::engine::stream
