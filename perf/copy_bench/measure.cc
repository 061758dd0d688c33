// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <memory>

#include "gpu_bench/gpu.h"

namespace detccl::copy_bench {
namespace {

using gpu_bench::GpuMemory;
using gpu_bench::require;

/// One GPU's memory, stream and events. Destroyed with that GPU or another one current, which CUDA allows.
class Gpu {
 public:
  Gpu(int index, std::uint64_t bytes) : index_(index), bytes_(bytes) {
    require(cudaSetDevice(index));
    send_ = std::make_unique<GpuMemory>(bytes);
    receive_ = std::make_unique<GpuMemory>(bytes);
    require(cudaMemset(send_->data(), 1, bytes));
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require(cudaEventCreate(&start_));
    require(cudaEventCreate(&stop_));
    require(cudaDeviceSynchronize());
  }
  ~Gpu() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  int index() const { return index_; }

  bool reach(const Gpu& peer) const {
    if (peer.index_ == index_) return true;
    int can = 0;
    require(cudaDeviceCanAccessPeer(&can, index_, peer.index_));
    if (can == 0) return false;
    require(cudaSetDevice(index_));
    const cudaError_t error = cudaDeviceEnablePeerAccess(peer.index_, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
      static_cast<void>(cudaGetLastError());
    else
      require(error);
    return true;
  }

  /// Copies to `peer`, `repeats` times.
  void enqueue(const Gpu& peer, int repeats) const {
    require(cudaSetDevice(index_));
    require(cudaEventRecord(start_, stream_));
    for (int i = 0; i < repeats; ++i)
      require(
          cudaMemcpyPeerAsync(peer.receive_->data(), peer.index_, send_->data(), index_, bytes_, stream_));
    require(cudaEventRecord(stop_, stream_));
  }

  double bytes_per_second(int repeats) const {
    require(cudaSetDevice(index_));
    require(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return static_cast<double>(bytes_) * repeats / (static_cast<double>(milliseconds) * 1e-3);
  }

 private:
  int index_;
  std::uint64_t bytes_;
  std::unique_ptr<GpuMemory> send_, receive_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

Row measure_pair(const Options& o, const Gpu& from, const Gpu& to) {
  Row row{from.index(), to.index(), from.reach(to) && to.reach(from), {}, {}};
  for (int i = -1; i < o.samples; ++i) {  // the first is not counted
    from.enqueue(to, o.repeats);
    const double alone = from.bytes_per_second(o.repeats);
    if (i >= 0) row.one_way.push_back(alone);
    if (from.index() == to.index()) continue;
    from.enqueue(to, o.repeats);
    to.enqueue(from, o.repeats);
    const double both = std::min(from.bytes_per_second(o.repeats), to.bytes_per_second(o.repeats));
    if (i >= 0) row.both_ways.push_back(both);
  }
  return row;
}

}  // namespace

std::vector<Row> measure(const Options& options) {
  int count = 0;
  require(cudaGetDeviceCount(&count));
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (int i = 0; i < count; ++i)
    gpus.push_back(std::make_unique<Gpu>(i, options.bytes));
  std::vector<Row> rows;
  for (const auto& from : gpus)
    for (const auto& to : gpus)
      rows.push_back(measure_pair(options, *from, *to));
  return rows;
}

}  // namespace detccl::copy_bench
