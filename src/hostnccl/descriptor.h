// SPDX-License-Identifier: Apache-2.0
// File descriptors that end with their owner, and not later than the process that opened them: a forked child
// closes its copies at once, so that the others see the death of a rank that has children.
#pragma once

namespace detccl::hostnccl {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd);
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int release();
  int fd_ = -1;
};

}  // namespace detccl::hostnccl
