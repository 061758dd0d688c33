// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace trainer {
namespace {

class Host : public Device {
 public:
  const char* name() const override { return "host"; }
  cudaStream_t stream() const override { return nullptr; }
  void* allocate(std::size_t bytes) override {
    void* memory = std::calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void free(void* memory) override { std::free(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  bool idle() override { return true; }
};

}  // namespace

std::unique_ptr<Device> open_device(Where where, int local_rank) {
  std::unique_ptr<Device> gpu = where == Where::host ? nullptr : open_gpu(local_rank);
  if (gpu == nullptr && where == Where::gpu) throw std::runtime_error("there is no GPU for --device gpu");
  return gpu != nullptr ? std::move(gpu) : std::make_unique<Host>();
}

}  // namespace trainer
