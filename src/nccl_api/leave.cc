// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/leave.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "nccl_api/farewell.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api {
namespace {

/// How long an exit may wait for ranks that need data of this one.
constexpr std::chrono::seconds kPatienceAtExit{3};

std::once_flag exit_registered;
pid_t registered_in = 0;

void send_off(Communicator& communicator, ncclResult_t stopped_before, std::unique_ptr<Shadow> shadow) {
  const bool sound = stopped_before == ncclSuccess && communicator.error() == ncclSuccess;
  if (const auto gpu = communicator.take_gpu(); gpu != nullptr) {
    const KeepLastError keep;
    sound ? gpu->destroy() : gpu->abort();
  }
  if (shadow != nullptr && sound)
    runtime().linger.add(std::make_unique<Farewell>(std::move(shadow->exchange)));
}

void at_exit() {
  if (registered_in != getpid()) return;  // a forked child has none of the threads
  for (const auto& communicator : runtime().communicators.all())
    try_leave(communicator);
  runtime().linger.drain(kPatienceAtExit);
  if (runtime().tracing != nullptr) runtime().tracing->close();
}

}  // namespace

void leave(const std::shared_ptr<Communicator>& communicator) {
  const ncclResult_t stopped = communicator->stopped();
  runtime().communicators.remove(*communicator);
  send_off(*communicator, stopped, communicator->retire());
}

bool try_leave(const std::shared_ptr<Communicator>& communicator) {
  const ncclResult_t stopped = communicator->stopped();
  std::unique_ptr<Shadow> shadow;
  if (!communicator->try_retire(shadow)) return false;
  runtime().communicators.remove(*communicator);
  send_off(*communicator, stopped, std::move(shadow));
  return true;
}

void leave_at_exit() {
  // Handlers run in the reverse order: before those of the real library and the transport, which are there.
  std::call_once(exit_registered, [] {
    registered_in = getpid();
    static_cast<void>(std::atexit(at_exit));
  });
}

}  // namespace detccl::nccl_api
