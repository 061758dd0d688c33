// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "device.h"
#include "job.h"

namespace detccl::perf {
namespace {

void require(cudaError_t result, const char* call) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}

/// An instantiated graph.
class Graph {
 public:
  explicit Graph(cudaGraphExec_t graph) : graph_(graph) {}
  ~Graph() { cudaGraphExecDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(cudaStream_t stream) const { require(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t graph_;
};

class GpuDevice : public Device {
 public:
  explicit GpuDevice(int index) {
    require(cudaSetDevice(index), "cudaSetDevice");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    require(cudaEventCreate(&start_), "cudaEventCreate");
    require(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~GpuDevice() override {
    for (void* buffer : buffers_)
      cudaFree(buffer);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }

  std::byte* allocate(std::size_t bytes) override {
    void* buffer = nullptr;
    require(cudaMalloc(&buffer, bytes > 0 ? bytes : 1), "cudaMalloc");
    buffers_.push_back(buffer);
    return static_cast<std::byte*>(buffer);
  }
  void upload(std::byte* to, std::span<const std::byte> from) override {
    require(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync");
    wait();
  }
  void download(std::span<std::byte> to, const std::byte* from) override {
    require(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    wait();
  }
  void poison(std::byte* data, std::size_t bytes) override {
    require(cudaMemsetAsync(data, 0xff, bytes, stream_), "cudaMemsetAsync");
    wait();
  }
  void* stream() override { return stream_; }
  void wait() override { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// The first call is not timed: it ends on all ranks together, so that those after it start together.
  CallTime time(std::uint64_t calls, const std::function<void()>& call) override {
    using Clock = std::chrono::steady_clock;
    call();
    require(cudaEventRecord(start_, stream_), "cudaEventRecord");
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < calls; ++i)
      call();
    const std::chrono::duration<double> enqueued = Clock::now() - begin;
    require(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    wait();
    float milliseconds = 0.0F;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    const double n = static_cast<double>(calls);
    return {static_cast<double>(milliseconds) * 1e-3 / n, enqueued.count() / n};
  }

  std::function<void()> capture(std::uint64_t calls, const std::function<void()>& call) override {
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      for (std::uint64_t i = 0; i < calls; ++i)
        call();
    } catch (...) {
      if (cudaStreamEndCapture(stream_, &graph) == cudaSuccess) cudaGraphDestroy(graph);
      throw;
    }
    require(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t result = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    require(result, "cudaGraphInstantiate");
    const auto shared = std::make_shared<Graph>(executable);
    return [this, shared] { shared->launch(stream_); };
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  std::vector<void*> buffers_;
};

/// The kernel driver's version, else the newest CUDA that it can do.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    const bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) return word;
  }
  int cuda = 0;
  cudaDriverGetVersion(&cuda);
  return "CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

}  // namespace

std::unique_ptr<Device> gpu_device(int local_rank, Gpu& gpu) {
  const cudaError_t result = cudaGetDeviceCount(&gpu.count);
  if (result != cudaSuccess || gpu.count == 0)
    throw UsageError(std::string("no GPU (") + cudaGetErrorString(result) + "): --host measures host memory");
  gpu.index = local_rank % gpu.count;
  auto device = std::make_unique<GpuDevice>(gpu.index);
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, gpu.index), "cudaGetDeviceProperties");
  gpu.name = properties.name;
  gpu.driver = driver_version();
  return device;
}

}  // namespace detccl::perf
