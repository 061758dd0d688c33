// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device.h"

namespace promises {
namespace {

void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

class GpuGraph : public Device::Graph {
 public:
  GpuGraph(cudaGraph_t graph, Device& device) : graph_(graph), device_(device) {
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
  }
  ~GpuGraph() override {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void launch(int stream) override {
    check(cudaGraphLaunch(executable_, device_.stream(stream)), "cudaGraphLaunch");
  }

 private:
  cudaGraph_t graph_;
  Device& device_;
  cudaGraphExec_t executable_ = nullptr;
};

class Gpu : public Device {
 public:
  explicit Gpu(int devices) : devices_(devices) {
    check(cudaSetDevice(0), "cudaSetDevice");
    for (int i = 0; i < 2; ++i) {
      check(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "cudaStreamCreate");
      check(cudaEventCreateWithFlags(&events_[i], cudaEventDisableTiming), "cudaEventCreate");
    }
  }
  bool is_gpu() const override { return true; }
  int devices() const override { return devices_; }
  cudaStream_t stream(int number) const override { return streams_[number]; }
  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void upload(void* to, const void* from, std::size_t bytes, int stream) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, streams_[stream]), "copy to the GPU");
  }
  void copy(void* to, const void* from, std::size_t bytes, int stream) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, streams_[stream]), "copy on the GPU");
  }
  void fill(void* to, int byte, std::size_t bytes, int stream) override {
    check(cudaMemsetAsync(to, byte, bytes, streams_[stream]), "cudaMemset");
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    wait();
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, streams_[0]), "copy from the GPU");
    check(cudaStreamSynchronize(streams_[0]), "copy from the GPU");
  }
  void wait() override {
    for (const cudaStream_t stream : streams_)
      check(cudaStreamSynchronize(stream), "the work on a stream");
  }
  void order(int from, int to) override {
    check(cudaEventRecord(events_[from], streams_[from]), "cudaEventRecord");
    check(cudaStreamWaitEvent(streams_[to], events_[from], 0), "cudaStreamWaitEvent");
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(streams_[0], &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check(cudaStreamEndCapture(streams_[0], &graph), "cudaStreamEndCapture");
    return std::make_unique<GpuGraph>(graph, *this);
  }
  std::size_t free_memory() override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }

 private:
  int devices_;
  cudaStream_t streams_[2] = {};
  cudaEvent_t events_[2] = {};
};

}  // namespace

std::unique_ptr<Device> open_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nullptr;
  return std::make_unique<Gpu>(devices);
}

}  // namespace promises
