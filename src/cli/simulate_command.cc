// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace detccl::cli {
namespace {

/// Returns only where there is no such program.
int become_simulate(std::vector<std::string> arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "detccl-simulate";
  arguments.insert(arguments.begin(), "detccl simulate");
  std::vector<char*> pointers;
  for (std::string& argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  if (errno == ENOENT) {
    fmt::print(stderr,
               "detccl: no {}: DetCCL was built without SimGrid. Install libsimgrid-dev (Debian 12 has it), "
               "then configure and build again\n",
               program);
  } else {
    fmt::print(stderr, "detccl: {}: {}\n", program, std::strerror(errno));
  }
  return 2;
}

}  // namespace

void add_simulate_command(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("simulate", "Predict the time of plans on machines of thousands of GPUs");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command, &status] { status = become_simulate(command->remaining()); });
}

}  // namespace detccl::cli
