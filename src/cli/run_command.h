// SPDX-License-Identifier: Apache-2.0
// `detccl run`: runs a program with DetCCL in front of its NCCL.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand. When it is the one that is parsed, it becomes the program, whose exit status is then
/// detccl's; or it sets `status`: 127 if there is no such program, 126 if it cannot be run.
/// Bad usage, a bad environment too, is thrown as CLI::ValidationError.
void add_run_command(CLI::App& app, int& status);

}  // namespace detccl::cli
