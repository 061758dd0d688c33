// SPDX-License-Identifier: Apache-2.0
// `detccl doctor`: whether DetCCL is in the path of a command's NCCL calls.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand. When it is the one that is parsed, it runs and sets `status`, the exit status: 0, or
/// 1 if there is a problem. Bad usage is thrown as CLI::ValidationError.
void add_doctor_command(CLI::App& app, int& status);

}  // namespace detccl::cli
