// SPDX-License-Identifier: Apache-2.0
// The roots of this process and the one thread that serves them all. The thread and its listening socket
// exist while there is an id made here whose communicator is still in use, or that was never used.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <poll.h>

#include "hostnccl/root.h"
#include "hostnccl/unique_id.h"

namespace detccl::hostnccl {

class RootService {
 public:
  /// A new id with its root. Starts the thread when there is none. Any thread.
  ncclUniqueId create();

  /// At the process's exit: tells the ranks of all roots that nobody watches from here on.
  void leave();

 private:
  void start();
  void run();
  bool stop_if_unused();
  std::vector<pollfd> collect();
  void accept_strangers();
  void serve(int fd);
  bool serve_stranger(Connection& stranger);
  void introduce(Connection& stranger, const Message& message);

  std::mutex mutex_;  // guards everything below
  bool running_ = false;
  int process_ = 0;  ///< that started the thread: a forked child has none
  Descriptor listener_;
  sockaddr_in address_{};
  std::map<Magic, Root> roots_;
  std::list<Connection> strangers_;  ///< have not said hello yet
};

}  // namespace detccl::hostnccl
