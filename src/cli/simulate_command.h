// SPDX-License-Identifier: Apache-2.0
// `detccl simulate`: predicted times, by the program detccl-simulate beside `detccl`.
#pragma once

namespace CLI {
class App;
}

namespace detccl::cli {

/// As add_plan_command(). All arguments are handed on.
void add_simulate_command(CLI::App& app, int& status);

}  // namespace detccl::cli
