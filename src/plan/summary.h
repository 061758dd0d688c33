// SPDX-License-Identifier: Apache-2.0
// What a plan costs, counted from the plan itself.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace detccl::plan {

/// Per rank, of one whole collective (all pieces). Bytes count payloads as they go over the wire.
struct Cost {
  std::uint64_t stages = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t peers = 0;          ///< distinct ranks sent to or received from
  std::uint64_t near_peers = 0;     ///< those of them in the rank's aligned group of `near` ranks
  std::uint64_t scratch_bytes = 0;  ///< of the largest piece
};

/// `near`: not 0.
Cost cost(const Spec& spec, std::uint32_t rank, contract::DataType type, std::uint32_t near = 1);

}  // namespace detccl::plan
