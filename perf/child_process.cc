// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace detccl::perf {

ChildProcess::ChildProcess(std::vector<std::string> arguments, const std::string& place,
                           const std::string& schedule) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  arguments.push_back("--child");
  arguments.push_back(std::to_string(ends[1]) + "," + place);
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  // What the child is told must be ready before the fork: MPI may have threads, and they may hold locks.
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (schedule.empty() || std::strncmp(*entry, "DETCCL_SCHEDULE=", 16) != 0)
      environment.emplace_back(*entry);
  }
  if (!schedule.empty()) environment.push_back("DETCCL_SCHEDULE=" + schedule);
  std::vector<char*> envp;
  for (std::string& entry : environment)
    envp.push_back(entry.data());
  envp.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(2);
    fcntl(ends[1], F_SETFD, 0);
    execve("/proc/self/exe", argv.data(), envp.data());
    _exit(2);
  }
  close(ends[1]);
  fd_ = ends[0];
  if (pid_ < 0) {
    close(fd_);
    throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  }
}

ChildProcess::~ChildProcess() {
  kill();
  wait();
  close(fd_);
}

void ChildProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string ChildProcess::wait() {
  if (pid_ <= 0) return "";
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace detccl::perf
