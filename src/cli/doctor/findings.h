// SPDX-License-Identifier: Apache-2.0
// From what the processes loaded and bound to what is wrong with it.
#pragma once

#include "cli/doctor/diagnosis.h"
#include "cli/doctor/watch.h"

namespace detccl::cli {

/// Adds the processes that have an NCCL to the diagnosis, and the problems that show in them.
void add_findings(const Watched& watched, Diagnosis& diagnosis);

}  // namespace detccl::cli
