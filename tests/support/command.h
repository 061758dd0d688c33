// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user would, under a watchdog, and keeps what it printed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace detccl::test {

struct Outcome {
  int exit_code = -1;  ///< 124: stopped by the watchdog
  std::string output;  ///< standard output and error together
};

/// Runs a shell command line for at most 240 seconds.
inline Outcome run(const std::string& command) {
  FILE* pipe = popen(("exec 2>&1 </dev/null; timeout -k 5 240 " + command).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  Outcome outcome;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
    outcome.output += static_cast<char>(c);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// "env … mpirun -n RANKS": more ranks than cores, on the loopback, as root too.
/// `environment`: further "NAME=value" pairs, separated by spaces.
inline std::string mpirun(int ranks, const std::string& environment = "") {
  return "env NCCL_SOCKET_IFNAME=lo OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
         " OMPI_MCA_mpi_yield_when_idle=1 " +
         environment + " " DETCCL_TEST_MPIEXEC " --oversubscribe -n " + std::to_string(ranks) + " ";
}

/// A folder of the test's own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "detccl-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace detccl::test
