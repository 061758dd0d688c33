// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "communicator.h"

namespace detccl::profiler {

/// The communicator's JSON document of format detccl-profile-1 (docs/profiler.md).
std::string summary(Communicator& communicator);

/// Writes it as a file of its own into the settings' folder, anew each time; unless there was nothing. What
/// cannot be written is told on standard error.
void write_summary(Communicator& communicator) noexcept;

/// Likewise, once in the period; looks at what is to change, too (control.h).
void write_if_due(Communicator& communicator) noexcept;

}  // namespace detccl::profiler
