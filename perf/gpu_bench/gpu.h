// SPDX-License-Identifier: Apache-2.0
// What benchmarks of kernels share: memory of the GPU, and time on it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace detccl::gpu_bench {

/// Throws std::runtime_error for an error.
void require(cudaError_t error);

class GpuMemory {
 public:
  explicit GpuMemory(std::uint64_t bytes) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes));
    data_ = static_cast<std::byte*>(memory);
  }
  ~GpuMemory() { cudaFree(data_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  std::byte* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
};

class Stopwatch {
 public:
  Stopwatch() {
    require(cudaEventCreate(&start_));
    require(cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Seconds of one `call`, from `repeats` of them back to back.
  double time(int repeats, const std::function<cudaError_t()>& call) {
    require(cudaEventRecord(start_));
    for (int i = 0; i < repeats; ++i)
      require(call());
    require(cudaEventRecord(stop_));
    require(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return static_cast<double>(milliseconds) * 1e-3 / repeats;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace detccl::gpu_bench
