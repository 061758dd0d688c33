// SPDX-License-Identifier: Apache-2.0
// detccl: a table of subcommands, one file each.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "cli/doctor_command.h"
#include "cli/overhead_command.h"
#include "cli/plan_command.h"
#include "cli/report_command.h"
#include "cli/run_command.h"
#include "cli/simulate_command.h"
#include "cli/trace_command.h"
#include "cli/tune_command.h"

namespace {

using AddCommand = void (*)(CLI::App& app, int& status);

constexpr AddCommand kCommands[] = {
    detccl::cli::add_doctor_command, detccl::cli::add_overhead_command, detccl::cli::add_plan_command,
    detccl::cli::add_report_command, detccl::cli::add_run_command,      detccl::cli::add_simulate_command,
    detccl::cli::add_trace_command,  detccl::cli::add_tune_command,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Bitwise deterministic reductions for NCCL programs", "detccl");
  app.set_version_flag("--version", "detccl " DETCCL_VERSION);
  app.require_subcommand(1);
  int status = 0;
  for (const AddCommand add : kCommands) {
    add(app, status);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << "detccl: " << e.what() << '\n';
    return 1;
  }
  return status;
}
