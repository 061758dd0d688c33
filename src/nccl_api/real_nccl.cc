// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/real_nccl.h"

#include <fmt/format.h>

namespace detccl::nccl_api {

constinit thread_local int InsideReal::depth_ = 0;

ncclResult_t missing_function(const RealLibrary& library, const char* name) {
  if (!library.found()) return fail(ncclSystemError, fmt::format("no NCCL library: {}", library.problem()));
  return fail(ncclInvalidUsage, fmt::format("{}: {} has no such function", name, library.path()));
}

}  // namespace detccl::nccl_api
