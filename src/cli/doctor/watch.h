// SPDX-License-Identifier: Apache-2.0
// Runs a command under the audit library, and takes down what its processes load and bind.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace detccl::cli {

/// A name of NCCL's that was bound.
struct Bind {
  bool looked_up = false;              ///< with dlsym; else linked
  std::string name, caller, function;  ///< the name, and the files of the two
  bool operator==(const Bind&) const = default;
};

/// What one process, as one program, has loaded.
struct Process {
  int pid = 0, parent = 0;
  std::vector<std::string> objects;  ///< files, the program first
  std::vector<Bind> binds;
};

/// Takes the report's lines (audit/records.h) as they come.
class Processes {
 public:
  /// Whether the line is one of a bind.
  bool take(const std::string& line);
  const std::vector<Process>& all() const { return all_; }
  const Bind& last_bind() const { return last_bind_; }

 private:
  Process& current(int pid, int parent);
  std::vector<Process> all_;
  Bind last_bind_;
};

struct WatchOptions {
  std::vector<std::string> command;
  std::string audit_library;
  std::vector<std::string> detccl;               ///< the files that are DetCCL
  std::set<std::string, std::less<>> functions;  ///< NCCL's names that DetCCL has
  std::chrono::seconds timeout{60};
  bool to_the_end = false;
};

struct Watched {
  std::vector<Process> processes;
  std::string ended;    ///< how the command ended, for the reader
  bool failed = false;  ///< it could not be started, or ended by itself with another status than 0
  std::string output;   ///< the last lines of what it wrote
};

/// Runs the command in this process's environment, without input, to its end or to the time limit, or until
/// one of DetCCL's functions has been bound to another NCCL, or DetCCL itself has found one, and no more
/// follow. Then ends what is left of it. Throws std::system_error where there are no files or processes to be
/// had.
Watched watch(const WatchOptions& options);

}  // namespace detccl::cli
