// SPDX-License-Identifier: Apache-2.0
// `detccl trace`: what is in the traces of a run, and where two runs part.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand. When it is the one that is parsed, it runs and sets `status`, the exit status.
/// Bad usage is thrown as CLI::ValidationError.
void add_trace_command(CLI::App& app, int& status);

}  // namespace detccl::cli
