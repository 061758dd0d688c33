// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/process.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <mutex>

namespace detccl::hostnccl {
namespace {

/// How long a process that ends waits for ranks that may still fetch its last data.
constexpr std::chrono::milliseconds kPatienceAtExit{2000};

std::once_flag made;
Process* the_process = nullptr;
pid_t maker = 0;

/// Runs before the libraries below are taken down, as it was registered after they were loaded or not at all.
void at_exit() {
  if (maker != ::getpid()) return;  // a forked child has none of the threads
  the_process->linger.drain(kPatienceAtExit);
  the_process->roots.leave();
}

}  // namespace

Process& process() {
  std::call_once(made, [] {
    the_process = new Process;
    maker = ::getpid();
    std::atexit(at_exit);
  });
  return *the_process;
}

}  // namespace detccl::hostnccl
