// SPDX-License-Identifier: Apache-2.0
// The library's state in this process: made at the first call, never destroyed, for threads and static
// destructors of the program may call until the very end.
#pragma once

#include "nccl_api/environment.h"
#include "nccl_api/real_nccl.h"
#include "nccl_api/registry.h"
#include "nccl_api/tracing.h"
#include "transport/linger.h"

namespace detccl::nccl_api {

struct Runtime {
  Runtime();
  Environment environment;
  RealNccl real;
  bool on_host;          ///< the real library works on host memory
  bool checks_pointers;  ///< NCCL_CHECK_POINTERS: it looks at every buffer
  Registry communicators;
  transport::Linger linger;
  std::unique_ptr<Tracing> tracing;  ///< null: nothing is recorded
  std::atomic<std::uint32_t> communicators_made{0};
};

Runtime& runtime();

inline const RealNccl& real() {
  return runtime().real;
}

/// Whether a call goes straight to the real library: DETCCL_DISABLE without anything to be recorded, or the
/// real library itself is calling.
inline bool passes_through() {
  return InsideReal::now() || (runtime().environment.configuration().disable && runtime().tracing == nullptr);
}

}  // namespace detccl::nccl_api
