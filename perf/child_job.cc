// SPDX-License-Identifier: Apache-2.0
#include "child_job.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace detccl::perf {

bool send_all(int fd, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::send(fd, at, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool receive_all(int fd, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::recv(fd, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void ChildJob::send(Message kind, std::uint32_t step, const void* data, std::size_t bytes) {
  const Header header{kind, step, static_cast<std::uint32_t>(bytes)};
  if (!send_all(fd_, &header, sizeof header) || !send_all(fd_, data, bytes)) _exit(2);
}

void ChildJob::exchange(const Slot& mine, std::span<Slot> all) {
  send(Message::slot, step(), &mine, sizeof mine);
  // Without its supervisor a rank has nobody to work for.
  if (!receive_all(fd_, all.data(), all.size_bytes())) _exit(2);
}

void ChildJob::send_record(const std::string& json_text) {
  send(Message::record, step(), json_text.data(), json_text.size());
}

void ChildJob::send_end(int exit_code) {
  send(Message::end, static_cast<std::uint32_t>(exit_code), nullptr, 0);
}

}  // namespace detccl::perf
