// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "device.h"

namespace detccl::perf {
namespace {

class HostDevice : public Device {
 public:
  std::byte* allocate(std::size_t bytes) override { return buffers_.emplace_back(bytes).data(); }
  void upload(std::byte* to, std::span<const std::byte> from) override { copy(to, from.data(), from.size()); }
  void download(std::span<std::byte> to, const std::byte* from) override { copy(to.data(), from, to.size()); }
  void poison(std::byte* data, std::size_t bytes) override {
    if (bytes > 0) std::memset(data, 0xff, bytes);
  }
  void* stream() override { return nullptr; }
  void wait() override {}  // calls end when their results are there

  CallTime time(std::uint64_t calls, const std::function<void()>& call) override {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < calls; ++i)
      call();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return {spent.count() / static_cast<double>(calls), 0.0};
  }

  std::function<void()> capture(std::uint64_t, const std::function<void()>&) override {
    throw std::runtime_error("the host has no graphs");
  }

 private:
  static void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace

std::unique_ptr<Device> host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace detccl::perf
