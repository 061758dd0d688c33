// SPDX-License-Identifier: Apache-2.0
// A diagnosis as text and as JSON.
#pragma once

#include <string>

#include "cli/doctor/diagnosis.h"

namespace detccl::cli {

std::string to_text(const Diagnosis& diagnosis);
std::string to_json(const Diagnosis& diagnosis);

/// 0, or 1 if there is a problem.
int exit_status(const Diagnosis& diagnosis);

}  // namespace detccl::cli
