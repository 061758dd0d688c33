// SPDX-License-Identifier: Apache-2.0
// All ranks' programs of one spec, in ticks and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "simulate/script.h"

namespace detccl::simulate {

/// What one rank does in one tick of a program.
struct Action {
  std::uint32_t tick = 0;
  std::vector<Message> sends, receives;
  double fold_bytes = 0;
  std::uint32_t folds = 0;
  double gathered = 0;  ///< instead of messages: an all-gather of so many bytes from each rank
};

struct Shape {
  std::vector<std::vector<Action>> ranks;  ///< ascending ticks
  std::uint32_t length = 0;
  std::uint32_t life = 1;   ///< ticks from a rank's first use of scratch to its last, on the worst rank
  std::size_t scratch = 0;  ///< bytes, of the rank with the most
};

/// `latency`: as for engine::stream::timetables().
Shape shape_of(const plan::Spec& spec, contract::DataType type, std::uint32_t latency);

}  // namespace detccl::simulate
