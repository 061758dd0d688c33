// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/connection.h"

#include <sys/socket.h>

#include <cerrno>

namespace detccl::hostnccl {

bool Connection::receive() {
  char buffer[16384];
  while (true) {
    const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0) {
      incoming_.append(buffer, static_cast<std::size_t>(got));
      if (static_cast<std::size_t>(got) < sizeof buffer) return true;
    } else if (got == 0) {
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
}

std::optional<Message> Connection::next(std::uint64_t largest) {
  FrameHeader header;
  if (incoming_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, incoming_.data(), sizeof header);
  if (header.mark != kFrameMark || header.length > largest) {
    throw Error(ncclSystemError, "a connection to the control plane sent something that is no message of it");
  }
  if (incoming_.size() - sizeof header < header.length) return std::nullopt;
  Message message{header.type, incoming_.substr(sizeof header, header.length)};
  incoming_.erase(0, sizeof header + header.length);
  return message;
}

bool Connection::send(const Message& message) {
  const FrameHeader header{kFrameMark, message.type, message.body.size()};
  outgoing_.append(reinterpret_cast<const char*>(&header), sizeof header);
  outgoing_ += message.body;
  return flush();
}

bool Connection::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      outgoing_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      outgoing_.clear();
      return false;
    }
  }
  return true;
}

}  // namespace detccl::hostnccl
