// SPDX-License-Identifier: Apache-2.0
// Several ranks on one GPU, which NCCL refuses unless it is told otherwise.
#pragma once

#include <string>

#include "library.h"
#include "options.h"

namespace detccl::perf {

struct Sharing {
  Bench bench = Bench::none;  ///< never automatic
  std::string warning;        ///< empty: none
};

/// Chooses the bench and sets NCCL's environment variables for it, those that are not set already. To be
/// called after the library was loaded, which reads none of them then, and before any other of its functions.
/// Throws UsageError where the library is too old for what is asked.
Sharing set_up_bench(Bench wanted, const Library& native, const Job::Place& place, int rank, int gpus);

}  // namespace detccl::perf
