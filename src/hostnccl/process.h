// SPDX-License-Identifier: Apache-2.0
// What there is once per process. Made at the first use, and never destroyed: threads may outlive main().
#pragma once

#include "hostnccl/memory.h"
#include "hostnccl/registry.h"
#include "hostnccl/root_service.h"
#include "transport/linger.h"

namespace detccl::hostnccl {

struct Process {
  Registry registry;
  RootService roots;
  transport::Linger linger;
  Memory memory;
};

Process& process();

}  // namespace detccl::hostnccl
