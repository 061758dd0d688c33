// SPDX-License-Identifier: Apache-2.0
// Whether a program is linked with NCCL.
#pragma once

#include <string>

namespace detccl::cli {

/// Whether the loader would load libnccl.so.2 with the program, for itself or for a library of it. The loader
/// is asked to list; nothing of the program runs. No for what is no program of this machine, or a static one.
bool is_linked_with_nccl(const std::string& program);

}  // namespace detccl::cli
