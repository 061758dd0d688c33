// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "device.h"

namespace promises {
namespace {

class Host : public Device {
 public:
  bool is_gpu() const override { return false; }
  int devices() const override { return 0; }
  cudaStream_t stream(int) const override { return nullptr; }
  void* allocate(std::size_t bytes) override {
    void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void upload(void* to, const void* from, std::size_t bytes, int) override { move(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes, int) override { move(to, from, bytes); }
  void fill(void* to, int byte, std::size_t bytes, int) override { std::memset(to, byte, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { move(to, from, bytes); }
  void wait() override {}
  void order(int, int) override {}
  std::unique_ptr<Graph> capture(const std::function<void()>&) override {
    throw std::runtime_error("there are no graphs on the host");
  }
  std::size_t free_memory() override { return 0; }

 private:
  static void move(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

}  // namespace

std::unique_ptr<Device> open_host() {
  return std::make_unique<Host>();
}

}  // namespace promises
