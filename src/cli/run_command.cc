// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "nccl_api/driver.h"
#include "nccl_api/environment.h"

namespace detccl::cli {
namespace {

using nccl_api::Environment;
using nccl_api::Variable;

struct RunOptions {
  std::map<std::string_view, std::string> values;  ///< by variable
  bool host = false;
  std::vector<std::string> command;
};

void add_options(CLI::App& app, RunOptions& options) {
  for (const Variable& variable : Environment::variables()) {
    std::string help(variable.meaning);
    if (!variable.is_switch()) help += fmt::format(" Allowed: {}.", variable.syntax);
    if (!variable.is_switch() && !variable.default_value.empty())
      help += fmt::format(" Default: {}.", variable.default_value);
    help += fmt::format(" [{}]", variable.name);
    const auto take = [name = variable.name, &options](const std::string& value) {
      if (const auto problem = nccl_api::check_value(name, value)) throw CLI::ValidationError(*problem);
      options.values[name] = value;
    };
    if (variable.is_switch()) {
      app.add_flag_callback(
          variable.option(), [take] { take("1"); }, help);
    } else {
      app.add_option_function<std::string>(variable.option(), take, help);
    }
  }
  app.add_flag("--host", options.host,
               "Host memory: a program that loads libnccl.so.2 gets the one that comes with DetCCL. "
               "Without the option only where there is no NVIDIA driver, and no --nccl-library");
  app.add_option("command", options.command, "The program and its arguments, after --")->required();
}

void refuse_unknown_options(const std::vector<std::string>& remaining) {
  for (const std::string& argument : remaining) {
    if (argument == "--") continue;
    throw CLI::ValidationError(
        fmt::format("{} is no option of detccl run; the program's own come after --", argument));
  }
}

/// `first`, then what the variable holds.
void prepend(const char* name, const std::string& first) {
  const char* before = std::getenv(name);
  const bool empty = before == nullptr || *before == '\0';
  setenv(name, (empty ? first : first + ":" + before).c_str(), 1);
}

/// The folder of libdetccl.so: ../lib, seen from this program.
std::filesystem::path library_folder() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  for (const char* file : {"libdetccl.so", "hostnccl/libnccl.so.2"}) {
    if (!std::filesystem::exists(folder / file))
      throw std::runtime_error((folder / file).string() + " is missing");
  }
  return folder;
}

void set_environment(const RunOptions& options) {
  for (const auto& [name, value] : options.values)
    setenv(std::string(name).c_str(), value.c_str(), 1);
  const Environment environment = Environment::read(environ);
  std::string problems;
  for (const std::string& problem : environment.problems())
    problems += (problems.empty() ? "" : "\n") + problem;
  if (!problems.empty()) throw CLI::ValidationError(problems);

  const std::filesystem::path folder = library_folder();
  prepend("LD_PRELOAD", folder / "libdetccl.so");
  const bool no_driver =
      environment.configuration().nccl_library.empty() && !nccl_api::nvidia_driver_present();
  if (!options.host && !no_driver) return;
  prepend("LD_LIBRARY_PATH", folder / "hostnccl");
  if (environment.configuration().log >= nccl_api::LogLevel::info)
    fmt::print(stderr, "detccl: NCCL on host memory{}: {}\n",
               options.host ? "" : ", as there is no NVIDIA driver", (folder / "hostnccl").string());
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
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = app.add_subcommand("run",
                                     "Run a program with deterministic reductions: detccl run [options] -- "
                                     "program [arguments]");
  add_options(*run, *options);
  // Without this, CLI11 complains about what follows an unknown option instead.
  run->allow_extras();
  run->parse_complete_callback([run] { refuse_unknown_options(run->remaining()); });
  run->callback([options, &status] {
    set_environment(*options);
    status = become(options->command);
  });
}

}  // namespace detccl::cli
