// SPDX-License-Identifier: Apache-2.0
// `detccl tune`: measures, fits the cost model's figures, writes a tuning file.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand. When it is the one that is parsed, it runs and sets `status`, the exit status.
/// Bad usage is thrown as CLI::ValidationError.
void add_tune_command(CLI::App& app, int& status);

}  // namespace detccl::cli
