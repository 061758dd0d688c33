// SPDX-License-Identifier: Apache-2.0
// What gather and direct have in common: raw values go to the rank that folds them, and the folds that
// reduce all ranks' raw values of some elements at one place.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/plan.h"

namespace detccl::plan::schedules {

/// The part of every rank's input that rank `owner` folds; count 0 if it folds nothing.
using Owned = std::function<Region(std::uint32_t owner)>;

/// Appends a stage: to each other owner its part of the own input, from everyone the own part into scratch
/// slots, then the folds of the own part in rank order into `result` (final). A rank that owns nothing
/// only sends; `result` is not used then.
void append_raw_exchange(Program& program, const Spec& spec, std::uint32_t rank, const Owned& owned,
                         const Region& result);

}  // namespace detccl::plan::schedules
