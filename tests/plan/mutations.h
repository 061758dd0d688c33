// SPDX-License-Identifier: Apache-2.0
// Faults to put into valid plans. Each mutation changes what the plan computes, or breaks a rule of plans,
// for a reason that its comment gives: none can yield a plan that is as good as the original.
#pragma once

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "specs.h"

namespace detccl::plan::testing {

struct Plan {
  Spec spec;
  bool in_place = false;
  std::vector<Program> programs;
};

struct Mutation {
  std::string_view name;
  /// Changes a plan of build()'s; false, with the plan untouched, where it does not apply.
  bool (*apply)(Plan& plan, Random& random);

  friend void PrintTo(const Mutation& m, std::ostream* out) { *out << m.name; }
};

std::span<const Mutation> fold_mutations();
std::span<const Mutation> transfer_mutations();
std::span<const Mutation> region_mutations();

}  // namespace detccl::plan::testing
