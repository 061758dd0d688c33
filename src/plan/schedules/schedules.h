// SPDX-License-Identifier: Apache-2.0
// The schedules, one file each. Every function gives rank `rank`'s program of `spec`, which build() has
// checked: it is one piece, and its count is not 0.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace detccl::plan::schedules {

Program gather(const Spec& spec, std::uint32_t rank);
Program direct(const Spec& spec, std::uint32_t rank);
Program ring(const Spec& spec, std::uint32_t rank);
Program tree(const Spec& spec, std::uint32_t rank);
Program halving(const Spec& spec, std::uint32_t rank);  // and hier

}  // namespace detccl::plan::schedules
