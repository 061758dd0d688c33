// SPDX-License-Identifier: Apache-2.0
// The version of an NCCL library.
#pragma once

#include <string>

namespace detccl::cli {

/// The number that ncclGetVersion of the library `file` gives, asked in a process of its own; 0 if it cannot
/// be loaded or has no such function.
int nccl_version_code(const std::string& file);

/// 22809 -> "2.28.9", 0 -> "".
std::string version_text(int code);

/// "2.28.9" -> 22809; 0 if it is none.
int version_code(const std::string& text);

}  // namespace detccl::cli
