// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/root_service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hostnccl/interfaces.h"

namespace detccl::hostnccl {
namespace {

/// A root may end by time alone.
constexpr int kPollMilliseconds = 5000;

[[noreturn]] void system_failure(const char* call) {
  throw Error(ncclSystemError, fmt::format("{}: {}", call, std::strerror(errno)));
}

}  // namespace

ncclUniqueId RootService::create() {
  const Magic magic = random_magic();
  const std::lock_guard lock(mutex_);
  if (process_ != ::getpid()) {  // the first call here, or the first since a fork
    roots_.clear();
    strangers_.clear();
    running_ = false;
  }
  if (!running_) start();
  roots_.try_emplace(magic);
  return encode({address_, magic});
}

void RootService::start() {
  address_ = listening_address();
  listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) system_failure("socket");
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0) {
    system_failure(fmt::format("listening on {}", to_string(address_)).c_str());
  }
  socklen_t length = sizeof address_;
  if (::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &length) != 0) {
    system_failure("getsockname");
  }
  process_ = ::getpid();
  running_ = true;
  std::thread([this] { run(); }).detach();
}

void RootService::run() {
  while (true) {
    std::vector<pollfd> polled;
    {
      const std::lock_guard lock(mutex_);
      if (stop_if_unused()) return;
      polled = collect();
    }
    ::poll(polled.data(), polled.size(), kPollMilliseconds);
    const std::lock_guard lock(mutex_);
    for (const pollfd& p : polled) {
      if (p.revents != 0) serve(p.fd);
    }
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(roots_, [now](const auto& entry) { return entry.second.finished(now); });
  }
}

bool RootService::stop_if_unused() {
  if (!roots_.empty()) return false;
  strangers_.clear();
  listener_.reset();
  running_ = false;
  return true;
}

std::vector<pollfd> RootService::collect() {
  std::vector<pollfd> polled{{listener_.get(), POLLIN, 0}};
  for (const Connection& stranger : strangers_)
    polled.push_back({stranger.fd(), POLLIN, 0});
  for (const auto& [magic, root] : roots_) {
    for (const int fd : root.descriptors()) {
      polled.push_back({fd, static_cast<short>(root.unsent(fd) ? POLLIN | POLLOUT : POLLIN), 0});
    }
  }
  return polled;
}

void RootService::serve(int fd) {
  if (fd == listener_.get()) return accept_strangers();
  const auto stranger =
      std::find_if(strangers_.begin(), strangers_.end(), [fd](const Connection& c) { return c.fd() == fd; });
  if (stranger != strangers_.end()) {
    if (!serve_stranger(*stranger)) strangers_.erase(stranger);
    return;
  }
  for (auto& [magic, root] : roots_)
    root.serve(fd);
}

void RootService::accept_strangers() {
  while (true) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Out of descriptors, say: the connection waits in the queue, and so must this thread.
      if (errno != EAGAIN && errno != EWOULDBLOCK) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    strangers_.emplace_back(std::move(socket));
  }
}

/// False when the connection is no stranger's any more: it was introduced, or dropped because it is closed or
/// sent something that is no hello (a port scanner, say; no communicator is to suffer from that).
bool RootService::serve_stranger(Connection& stranger) {
  try {
    const bool open = stranger.receive();
    const auto message = stranger.next(kLargestHello);
    if (!message) return open;
    introduce(stranger, *message);
  } catch (const Error&) {
  }
  return false;
}

void RootService::introduce(Connection& stranger, const Message& message) {
  if (message.type == MessageType::dismiss) {
    roots_.erase(Reader(message.body).get<Magic>());
    return;
  }
  if (message.type != MessageType::hello) return;
  const Hello hello = Hello::read(message);
  const auto root = roots_.find(hello.magic);
  if (root != roots_.end()) return root->second.join(std::move(stranger), hello);
  stranger.send({MessageType::failed,
                 "there is no communicator of this unique id (any more): it failed, or its "
                 "ranks have all left; an id serves for one communicator"});
}

void RootService::leave() {
  const std::lock_guard lock(mutex_);
  if (process_ != ::getpid()) return;
  for (auto& [magic, root] : roots_)
    root.leave();
}

}  // namespace detccl::hostnccl
