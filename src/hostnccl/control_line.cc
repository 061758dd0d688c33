// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/control_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "hostnccl/root.h"

namespace detccl::hostnccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{10};

/// Starts to connect; errors other than "under way" show when the socket is polled.
Descriptor begin_to_connect(const RootAddress& root) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw Error(ncclSystemError, fmt::format("socket: {}", std::strerror(errno)));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&root.address), sizeof root.address) != 0 &&
      errno != EINPROGRESS) {
    throw Error(ncclRemoteError, fmt::format("connecting to the communicator's root at {}: {}",
                                             to_string(root.address), std::strerror(errno)));
  }
  return socket;
}

/// Waits up to the look interval for `events`.
bool wait_for(int fd, short events) {
  pollfd polled{fd, events, 0};
  return ::poll(&polled, 1, static_cast<int>(kLookInterval.count())) > 0;
}

}  // namespace

ControlLine::ControlLine(const RootAddress& root, std::uint32_t size, std::uint32_t rank,
                         const std::string& blob, const Patience& patience, std::vector<std::string>& blobs) {
  connect(root, patience);
  connection_->send(Hello{root.magic, size, rank, blob}.write());
  blobs = await_table(0, patience, false, fmt::format("all {} ranks to join the communicator", size));
  if (blobs.size() != size)
    throw Error(ncclSystemError, "the root's table has another size than the communicator");
}

void ControlLine::connect(const RootAddress& root, const Patience& patience) {
  Descriptor socket = begin_to_connect(root);
  while (!wait_for(socket.get(), POLLOUT)) {
    patience.check(fmt::format("a connection to the communicator's root at {}", to_string(root.address)));
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    throw Error(
        ncclRemoteError,
        fmt::format("connecting to the communicator's root at {}: {}; is the process that called "
                    "ncclGetUniqueId still alive, and reachable on that address (NCCL_SOCKET_IFNAME)?",
                    to_string(root.address), std::strerror(error)));
  }
  connection_.emplace(std::move(socket));
}

std::vector<std::string> ControlLine::gather(const std::vector<std::uint32_t>& members,
                                             const std::string& blob, const Patience& patience,
                                             bool despite_failure) {
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = ++last_ticket_;
    Writer body;
    body.put(ticket).put(static_cast<std::uint32_t>(members.size()));
    for (const std::uint32_t member : members)
      body.put(member);
    body.put(blob);
    if (connection_) connection_->send({MessageType::gather, body.take()});
  }
  return await_table(ticket, patience, despite_failure,
                     fmt::format("{} ranks to take part in a split or shrink", members.size()));
}

std::vector<std::string> ControlLine::await_table(std::uint64_t ticket, const Patience& patience,
                                                  bool despite_failure, const std::string& what) {
  while (true) {
    int fd = -1;
    {
      const std::lock_guard lock(mutex_);
      pump();
      if (table_ticket_ == ticket) return std::move(table_);
      if (!failure_.empty() && !despite_failure) throw Error(ncclRemoteError, failure_);
      if (refused_ticket_ == ticket) throw Error(ncclRemoteError, fmt::format("{}: {}", what, refusal_));
      if (!connection_) throw Error(ncclRemoteError, "the communicator's root is gone");
      fd = connection_->fd();
    }
    wait_for(fd, POLLIN);
    patience.check(what);
  }
}

std::string ControlLine::failure() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now >= next_look_) {
    next_look_ = now + kLookInterval;
    pump();
  }
  return failure_;
}

void ControlLine::pump() {
  if (!connection_) return;
  bool open = connection_->flush() && connection_->receive();
  try {
    while (auto message = connection_->next())
      handle(*message);
  } catch (const Error&) {
    open = false;
  }
  if (open) return;
  connection_.reset();
  if (!unwatched_ && !all_left_ && failure_.empty()) {
    failure_ = "the process of the communicator's root (the one that called ncclGetUniqueId) has died";
  }
}

void ControlLine::handle(const Message& message) {
  Reader reader(message.body);
  switch (message.type) {
    case MessageType::table: {
      const auto ticket = reader.get<std::uint64_t>();
      const std::string body = reader.bytes();
      Reader blobs(body);
      table_.clear();
      const auto count = blobs.get<std::uint32_t>();
      for (std::uint32_t i = 0; i < count; ++i)
        table_.push_back(blobs.bytes());
      table_ticket_ = ticket;
      return;
    }
    case MessageType::refused:
      refused_ticket_ = reader.get<std::uint64_t>();
      refusal_ = reader.bytes();
      return;
    case MessageType::failed:
      if (failure_.empty()) failure_ = message.body;
      return;
    case MessageType::all_left:
      all_left_ = true;
      return;
    case MessageType::root_left:
      unwatched_ = true;
      return;
    default:
      throw Error(ncclSystemError, "the root sent a message that only ranks send");
  }
}

void ControlLine::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->send({MessageType::report, text});
}

void ControlLine::goodbye() {
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->send({MessageType::goodbye, {}});
}

bool ControlLine::all_left() {
  const std::lock_guard lock(mutex_);
  pump();
  return all_left_ || !connection_;
}

void dismiss(const RootAddress& root) noexcept {
  try {
    const Descriptor socket = begin_to_connect(root);
    if (!wait_for(socket.get(), POLLOUT)) return;
    const std::string body = Writer().put(root.magic).take();
    const FrameHeader header{kFrameMark, MessageType::dismiss, body.size()};
    const std::string frame = std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
    static_cast<void>(::send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL));
  } catch (const std::exception&) {
    // An id that nobody uses is harmless.
  }
}

}  // namespace detccl::hostnccl
