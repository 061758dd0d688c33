// SPDX-License-Identifier: Apache-2.0
// Collectives without arithmetic: each rank exchanges directly with those concerned, in one stage. There is
// no order in them, so no placement either. Counts and offsets in elements of the program's type; `count` is
// one rank's block. `in_place`: the own block is where it belongs already.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace detccl::hostnccl {

struct Blocks {
  std::uint32_t size = 1;  ///< ranks
  std::uint32_t rank = 0;
  std::uint64_t count = 0;
  bool in_place = false;
};

plan::Program direct_all_gather(const Blocks& blocks);
plan::Program direct_all_to_all(const Blocks& blocks);
plan::Program direct_gather(const Blocks& blocks, std::uint32_t root);
plan::Program direct_scatter(const Blocks& blocks, std::uint32_t root);

}  // namespace detccl::hostnccl
