// SPDX-License-Identifier: Apache-2.0
// One TCP connection of the control plane, as a stream of messages. Non-blocking; used by one thread at a
// time.
#pragma once

#include <optional>
#include <string>

#include "hostnccl/descriptor.h"
#include "hostnccl/wire.h"

namespace detccl::hostnccl {

class Connection {
 public:
  /// Takes a connected, non-blocking socket.
  explicit Connection(Descriptor socket);

  int fd() const { return socket_.get(); }

  /// Reads what has arrived. False when the other side has closed the connection or it broke; messages that
  /// came before are still to be had from next().
  bool receive();

  /// The next complete message, if there is one. Throws Error(ncclSystemError) on bytes that are no frame, or
  /// one longer than `largest`.
  std::optional<Message> next(std::uint64_t largest = kLargestFrame);

  /// Queues a message and sends what goes without waiting. False when the connection broke.
  bool send(const Message& message);
  bool flush();
  bool unsent() const { return !outgoing_.empty(); }

 private:
  Descriptor socket_;
  std::string incoming_, outgoing_;
};

}  // namespace detccl::hostnccl
