// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "cli/linked.h"
#include "nccl_api/driver.h"
#include "nccl_api/environment.h"

namespace detccl::cli {
namespace {

namespace fs = std::filesystem;

using nccl_api::Environment;
using nccl_api::Variable;

void refuse_unknown_options(const CLI::App& app) {
  for (const std::string& argument : app.remaining()) {
    if (argument == "--") continue;
    throw CLI::ValidationError(fmt::format("{} is no option of detccl {}; the program's own come after --",
                                           argument, app.get_name()));
  }
}

void add_variable(CLI::App& app, LaunchOptions& options, const Variable& variable) {
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

/// `first`, then what the variable holds.
void prepend(const char* name, const std::string& first) {
  const char* before = std::getenv(name);
  const bool empty = before == nullptr || *before == '\0';
  setenv(name, (empty ? first : first + ":" + before).c_str(), 1);
}

void choose(const LaunchOptions& options, Placement& placement) {
  placement.shim = options.via == "shim";
  placement.why = "as asked for";
  if (options.via != "auto") return;
  placement.shim = !is_linked_with_nccl(find_program(options.command.front()));
  placement.why = placement.shim ? "as the program itself is not linked with NCCL"
                                 : "as the program itself is linked with NCCL";
}

}  // namespace

void add_launch_options(CLI::App& app, LaunchOptions& options, std::string_view except) {
  for (const Variable& variable : Environment::variables())
    if (variable.name != except) add_variable(app, options, variable);
  app.add_option(
         "--via", options.via,
         "How DetCCL gets in front. preload: libdetccl.so, which reaches programs that are linked with "
         "NCCL and leaves their NCCL loaded as it is. shim: a libnccl.so.2 that is DetCCL, which also "
         "reaches programs that open NCCL by its name (JAX, ctypes) and looks for the NCCL itself. auto: "
         "preload if the loader lists libnccl.so.2 among the program's own libraries, else shim (for "
         "an interpreter, a script, a launcher). Default: auto.")
      ->check(CLI::IsMember({"auto", "preload", "shim"}));
  app.add_flag("--host", options.host,
               "Host memory: a program that loads libnccl.so.2 gets the one that comes with DetCCL. "
               "Without the option only where there is no NVIDIA driver, and no --nccl-library");
  app.add_option("command", options.command, "The program and its arguments, after --")->required();
  // Without this, CLI11 complains about what follows an unknown option instead.
  app.allow_extras();
  app.parse_complete_callback([&app] { refuse_unknown_options(app); });
}

std::vector<std::string> set_variables(const LaunchOptions& options) {
  for (const auto& [name, value] : options.values)
    setenv(std::string(name).c_str(), value.c_str(), 1);
  return Environment::read(environ).problems();
}

Placement put_in_front(const LaunchOptions& options) {
  Placement placement;
  const fs::path folder = library_folder();
  const std::string requested = Environment::read(environ).configuration().nccl_library;
  placement.host = options.host || (requested.empty() && !nccl_api::nvidia_driver_present());
  placement.host_folder = folder / "hostnccl";
  const fs::path host_library = folder / "hostnccl/libnccl.so.2";
  // Before the choice: a program that needs libnccl.so.2 gets this one.
  if (placement.host) prepend("LD_LIBRARY_PATH", placement.host_folder);
  choose(options, placement);
  placement.library = folder / (placement.shim ? "shim/libnccl.so.2" : "libdetccl.so");
  require(placement.library);
  require(host_library);
  if (placement.shim && options.host && requested.empty())
    setenv("DETCCL_NCCL_LIBRARY", host_library.c_str(), 1);
  prepend("LD_PRELOAD", placement.library);
  return placement;
}

void require(const std::string& file) {
  if (!fs::exists(file)) throw std::runtime_error(file + " is missing");
}

std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) return fs::exists(command) ? command : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / command;
    std::error_code none;
    if (fs::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

std::string library_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
}

}  // namespace detccl::cli
