// SPDX-License-Identifier: Apache-2.0
// Symbolic execution of all ranks' programs.
//
// A stage begins when its rank's stage before it is complete. It is complete when the stages that its
// transfers pair with have begun (every send is taken to block until its receive is posted) and its folds are
// done. What a send carries is what its region holds when the stage begins; a stage whose receives touch what
// its sends read, or each other, is rejected, so no order of the transfers can matter. As nothing else passes
// between ranks, any order in which stages can begin gives the same values, and executing one shows them all.
#pragma once

#include "plan/prover/flat_programs.h"
#include "plan/prover/pairing.h"

namespace detccl::plan::prover {

/// Throws Rejection unless every stage completes and every output then holds the contract's result.
void execute(const FlatPrograms& flat, const Pairing& pairing, const Spec& spec, bool in_place);

}  // namespace detccl::plan::prover
