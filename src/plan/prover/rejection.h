// SPDX-License-Identifier: Apache-2.0
// How the prover says no: thrown where the fault is found, caught in prove().
#pragma once

#include <stdexcept>
#include <string>

#include "plan/plan.h"

namespace detccl::plan::prover {

class Rejection : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "16 elements of output from 32 (final)", "16 elements of slot 3 (partial)".
std::string describe(const Region& region);

}  // namespace detccl::plan::prover
