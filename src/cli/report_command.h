// SPDX-License-Identifier: Apache-2.0
// `detccl report`: results of sweeps as a page.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand; when it is the one that is parsed, it runs and sets `status`, the exit status.
void add_report_command(CLI::App& app, int& status);

}  // namespace detccl::cli
