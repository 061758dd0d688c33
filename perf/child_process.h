// SPDX-License-Identifier: Apache-2.0
// This program, started again for one rank.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace detccl::perf {

class ChildProcess {
 public:
  /// Starts /proc/self/exe with `arguments` and "--child FD,`place`", and with DETCCL_SCHEDULE set to
  /// `schedule` unless that is empty. It is killed when this process ends. Throws std::runtime_error.
  ChildProcess(std::vector<std::string> arguments, const std::string& place, const std::string& schedule);
  ~ChildProcess();  ///< kills it
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int fd() const { return fd_; }
  /// Waits for its end, and says how it ended: "exit code 1", "signal 9".
  std::string wait();
  void kill();

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
};

}  // namespace detccl::perf
