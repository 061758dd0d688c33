// SPDX-License-Identifier: Apache-2.0
// Which ranks are near each other.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace detccl::nccl_api {

/// A number of this machine: what NCCL_HOSTID says, else its name and what it was given when it was started.
std::uint64_t host_number();

struct Grouping {
  std::uint32_t group = 1;  ///< ranks of an aligned group, a power of two: each group is in one domain
  std::string why;          ///< where the domains' ranks would have allowed larger ones; empty if they do not
};

/// The largest groups. domains[r]: rank r's host, or NVLink domain. Depends on nothing else, so that ranks
/// that know the same of each other find the same.
Grouping find_groups(std::span<const std::uint64_t> domains);

}  // namespace detccl::nccl_api
