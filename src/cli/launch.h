// SPDX-License-Identifier: Apache-2.0
// How `detccl run` and `detccl doctor` put DetCCL in front of a program's NCCL.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace detccl::cli {

struct LaunchOptions {
  std::map<std::string_view, std::string> values;  ///< by variable
  std::string via = "auto";
  bool host = false;
  std::vector<std::string> command;
};

/// Where DetCCL was put.
struct Placement {
  bool shim = false;
  std::string library;      ///< the file that is preloaded
  std::string why;          ///< why the shim, or why not
  bool host = false;        ///< the NCCL for host memory is underneath
  std::string host_folder;  ///< its folder
};

/// The options: one for each variable of DetCCL but `except`, --via, --host, and the command. Also makes
/// `app` refuse unknown options before the command.
void add_launch_options(CLI::App& app, LaunchOptions& options, std::string_view except = "");

/// Sets the variables that were asked for in this process's environment, and returns what is wrong there now.
std::vector<std::string> set_variables(const LaunchOptions& options);

/// Sets LD_PRELOAD and LD_LIBRARY_PATH (and, for the shim with --host, DETCCL_NCCL_LIBRARY) in this process's
/// environment. Throws std::runtime_error if a part of DetCCL is missing.
Placement put_in_front(const LaunchOptions& options);

/// The file that execvp would take for `command`; empty if there is none.
std::string find_program(const std::string& command);

/// Throws std::runtime_error if a file of this installation is missing.
void require(const std::string& file);

/// A folder of this installation: "lib".
std::string library_folder();

}  // namespace detccl::cli
