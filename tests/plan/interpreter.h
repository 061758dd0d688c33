// SPDX-License-Identifier: Apache-2.0
// Runs programs on numbers, element by element, with the ranks in a random interleaving. It shares nothing
// with the prover: where that accepts a plan, this must give the contract's value everywhere.
#pragma once

#include <span>
#include <string>

#include "plan/plan.h"
#include "specs.h"

namespace detccl::plan::testing {

/// Nothing if every output is right, and the inputs are untouched where they are not outputs; else what is
/// wrong. The addition is made up: neither commutative nor associative.
std::string interpret(const Spec& spec, std::span<const Program> programs, bool in_place, Random& random);

}  // namespace detccl::plan::testing
