// SPDX-License-Identifier: Apache-2.0
// What can be seen before the command runs.
#pragma once

#include <string>

#include "cli/doctor/diagnosis.h"

namespace detccl::cli {

/// Looks at DetCCL's variables and at those of the loader, as they are before DetCCL is put in front.
void check_environment_variables(Diagnosis& diagnosis);

/// Whether something can be preloaded into the program `file` at all.
void check_program(const std::string& file, Diagnosis& diagnosis);

}  // namespace detccl::cli
