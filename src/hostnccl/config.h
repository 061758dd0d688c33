// SPDX-License-Identifier: Apache-2.0
// ncclConfig_t, checked. Most of its fields tune a GPU's transports: they are checked as NCCL does and have
// no effect here.
#pragma once

#include "hostnccl/error.h"

namespace detccl::hostnccl {

struct Config {
  bool blocking = true;
};

/// `config` may be null: then `defaults` hold. Throws Error(ncclInvalidArgument), naming field and value.
Config read_config(const ncclConfig_t* config, const Config& defaults);

}  // namespace detccl::hostnccl
