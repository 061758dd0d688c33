// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace detccl::hostnccl {
namespace {

/// The other side's death is seen by the end of the connection; that of its host, or of the way there, only
/// by these: after `idle` seconds of silence a probe each `interval` seconds, and the end after `probes` of
/// them.
void keep_alive(int fd) {
  const int on = 1, idle = 10, interval = 5, probes = 4;
  // Sockets that are no TCP refuse these, which does no harm.
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Connection::Connection(Descriptor socket) : socket_(std::move(socket)) {
  keep_alive(socket_.get());
}

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
    const ssize_t sent =
        ::send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
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
