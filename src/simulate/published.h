// SPDX-License-Identifier: Apache-2.0
// Times of native collectives that others have published, and what is predicted for them; nothing is fitted.
#pragma once

#include <string>

#include "simulate/validate.h"

namespace detccl::simulate {

/// Whether the JSON text is such a file (perf/results/published_nccl_tests.json).
bool is_published(const std::string& json);

/// Throws std::invalid_argument where it is no such file.
Validation validate_published(const std::string& file, const std::string& json);

}  // namespace detccl::simulate
