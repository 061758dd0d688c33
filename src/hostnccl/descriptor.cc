// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/descriptor.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <utility>

namespace detccl::hostnccl {
namespace {

/// All open descriptors. Never destroyed: threads may outlive main().
struct OpenDescriptors {
  std::mutex mutex;
  std::set<int> fds;
};

OpenDescriptors* open_descriptors = nullptr;
std::once_flag made;

void before_fork() {
  open_descriptors->mutex.lock();
}

void in_parent() {
  open_descriptors->mutex.unlock();
}

void in_child() {
  for (const int fd : open_descriptors->fds)
    ::close(fd);
  open_descriptors->fds.clear();
  open_descriptors->mutex.unlock();
}

OpenDescriptors& all() {
  std::call_once(made, [] {
    open_descriptors = new OpenDescriptors;
    pthread_atfork(before_fork, in_parent, in_child);
  });
  return *open_descriptors;
}

}  // namespace

Descriptor::Descriptor(int fd) : fd_(fd) {
  if (fd < 0) return;
  OpenDescriptors& descriptors = all();
  const std::lock_guard lock(descriptors.mutex);
  descriptors.fds.insert(fd);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ < 0) return;
  OpenDescriptors& descriptors = all();
  const std::lock_guard lock(descriptors.mutex);
  // In a forked child it is closed already, and its number may be someone else's.
  if (descriptors.fds.erase(fd_) != 0) ::close(fd_);
  fd_ = -1;
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

}  // namespace detccl::hostnccl
