// SPDX-License-Identifier: Apache-2.0
// A thread that takes none of the program's signals: one that the program waits for elsewhere, or handles in
// a thread of its choice, is not for us. A file that may grow no longer is an error there, and not the end of
// the process.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace detccl::transport {

template <class Body>
std::thread quiet_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // threads inherit it
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::thread(std::move(body));
}

}  // namespace detccl::transport
