// SPDX-License-Identifier: Apache-2.0
// `detccl overhead`: the profiler's summaries of all ranks as one.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// Adds the subcommand; when it is the one that is parsed, it runs and sets `status`, the exit status.
void add_overhead_command(CLI::App& app, int& status);

}  // namespace detccl::cli
