// SPDX-License-Identifier: Apache-2.0
// The environment variables of this library, read when a communicator is made:
//   HOSTNCCL_PLACEMENT  r0,r1,…  a permutation of the ranks: the order in which the ring passes them.
//                       Default 0,1,2,… It must name as many ranks as a communicator made by CommInit* has;
//                       one made by Split or Shrink passes its members in the order of the parent's ring.
//   HOSTNCCL_TIMEOUT    seconds without progress after which a call ends with an error; 0: never.
//                       Default 600.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace detccl::hostnccl {

struct Settings {
  std::vector<std::uint32_t> placement;  ///< empty: not set
  std::chrono::seconds timeout{600};     ///< 0: never
};

/// Throws Error(ncclInvalidUsage), naming the variable, its value and what is allowed; also for a variable
/// HOSTNCCL_… that does not exist.
Settings read_settings();

/// The ring of a communicator of `size` ranks: ring[p] is the rank at position p.
/// Throws Error(ncclInvalidUsage) when the placement names another number of ranks.
std::vector<std::uint32_t> ring_of(const Settings& settings, std::uint32_t size);

}  // namespace detccl::hostnccl
