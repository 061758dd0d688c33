// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace detccl::profile {

/// The n-th number of splitmix64 (Steele, Lea, Flood, 2014) from 0: well spread, the same everywhere.
constexpr std::uint64_t mixed(std::uint64_t n) {
  std::uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace detccl::profile
