// SPDX-License-Identifier: Apache-2.0
// Lines on standard error: "detccl: host:pid: text". One write per line, so that ranks do not mix theirs.
#pragma once

#include <string_view>

#include "nccl_api/environment.h"

namespace detccl::nccl_api {

/// Lines above this level are not written. Any thread.
void set_log_level(LogLevel level);
bool logs(LogLevel level);

void log_line(LogLevel level, std::string_view text);

}  // namespace detccl::nccl_api
