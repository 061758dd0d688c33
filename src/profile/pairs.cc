// SPDX-License-Identifier: Apache-2.0
#include "profile/pairs.h"

namespace detccl::profile {
namespace {

/// splitmix64.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void Pairs::add(const Pair& pair) {
  ++count_;
  if (kept_.size() < kMost) return kept_.push_back(pair);
  const std::uint64_t place = next(random_) % count_;
  if (place < kMost) kept_[static_cast<std::size_t>(place)] = pair;
}

}  // namespace detccl::profile
