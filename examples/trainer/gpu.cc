// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device.h"

namespace trainer {
namespace {

void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

class Gpu : public Device {
 public:
  explicit Gpu(int device) {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Gpu() override { cudaStreamDestroy(stream_); }
  const char* name() const override { return "gpu"; }
  cudaStream_t stream() const override { return stream_; }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    check(cudaMemsetAsync(memory, 0, bytes, stream_), "cudaMemset");
    return memory;
  }
  void free(void* memory) override { cudaFree(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpy to the GPU");
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "cudaMemcpy from the GPU");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }
  bool idle() override {
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state != cudaErrorNotReady) check(state, "a kernel on the GPU");
    return state == cudaSuccess;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> open_gpu(int local_rank) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) return nullptr;  // no driver is no GPU, too
  return std::make_unique<Gpu>(local_rank % gpus);
}

}  // namespace trainer
