// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/launch.h"
#include "nccl_api/environment.h"

namespace detccl::cli {
namespace {

void set_environment(const LaunchOptions& options) {
  std::string problems;
  for (const std::string& problem : set_variables(options))
    problems += (problems.empty() ? "" : "\n") + problem;
  if (!problems.empty()) throw CLI::ValidationError(problems);
  const Placement placement = put_in_front(options);
  if (nccl_api::Environment::read(environ).configuration().log < nccl_api::LogLevel::info) return;
  fmt::print(stderr, "detccl: in front by {}, {}\n", placement.shim ? "shim" : "preload", placement.why);
  if (!placement.host) return;
  fmt::print(stderr, "detccl: NCCL on host memory{}: {}\n",
             options.host ? "" : ", as there is no NVIDIA driver", placement.host_folder);
}

/// Returns only where the program cannot be started.
int become(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  fmt::print(stderr, "detccl: {}: {}\n", command[0], std::strerror(error));
  return error == ENOENT ? 127 : 126;
}

}  // namespace

void add_run_command(CLI::App& app, int& status) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App* run = app.add_subcommand("run",
                                     "Run a program with deterministic reductions: detccl run [options] -- "
                                     "program [arguments]");
  add_launch_options(*run, *options);
  run->callback([options, &status] {
    set_environment(*options);
    status = become(options->command);
  });
}

}  // namespace detccl::cli
