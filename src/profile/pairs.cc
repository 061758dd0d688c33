// SPDX-License-Identifier: Apache-2.0
#include "profile/pairs.h"

#include "profile/mix.h"

namespace detccl::profile {

void Pairs::add(const Pair& pair) {
  ++count_;
  if (kept_.size() < kMost) return kept_.push_back(pair);
  const std::uint64_t place = mixed(count_) % count_;
  if (place < kMost) kept_[static_cast<std::size_t>(place)] = pair;
}

}  // namespace detccl::profile
