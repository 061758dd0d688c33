// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <new>
#include <stdexcept>

namespace detccl::peer_bench {

using gpu_bench::GpuMemory;
using gpu_bench::require;

Ranks::Ranks(std::uint32_t ranks, std::uint32_t blocks, std::uint64_t bytes) {
  layout_ = peer::layout_for(ranks, blocks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    regions_.push_back(std::make_unique<GpuMemory>(layout_.bytes()));
    inputs_.push_back(std::make_unique<GpuMemory>(bytes));
    outputs_.push_back(std::make_unique<GpuMemory>(bytes));
    require(cudaMemset(regions_.back()->data(), 0, layout_.bytes()));
    require(cudaMemset(inputs_.back()->data(), 0x3c, bytes));
    streams_.emplace_back();
    require(cudaStreamCreateWithFlags(&streams_.back(), cudaStreamNonBlocking));
    ends_.emplace_back();
    require(cudaEventCreateWithFlags(&ends_.back(), cudaEventDisableTiming));
  }
  require(cudaEventCreate(&start_));
  require(cudaEventCreate(&stop_));
  void* memory = nullptr;
  require(cudaHostAlloc(&memory, sizeof(peer::HostWords), cudaHostAllocMapped));
  words_ = new (memory) peer::HostWords;
  constexpr std::uint64_t kSlots = std::uint64_t{1} << 18;  // more than a series has operations
  require(ring_.init(kSlots));
  reader_.emplace(ring_.host_slots(), ring_.host_control(), ring_.ring().capacity);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    recorder::Recording& its = recordings_.emplace_back();
    its.ring = ring_.ring();
    its.site = r;
    require(ring_.counter(its.operations));
    require(ring_.accumulator(r, its.accumulator));
  }
  require(cudaDeviceSynchronize());
}

Ranks::~Ranks() {
  for (std::uint32_t r = 0; r < size(); ++r) {
    cudaStreamDestroy(streams_[r]);
    cudaEventDestroy(ends_[r]);
  }
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
  cudaFreeHost(words_);
}

std::uint64_t Ranks::take_records() {
  std::uint64_t records = 0;
  for (recorder::Slot slot; reader_->next(slot);)
    ++records;
  return records;
}

peer::Endpoint Ranks::endpoint(std::uint32_t rank) const {
  peer::Endpoint e;
  e.layout = layout_;
  e.rank = rank;
  for (std::uint32_t r = 0; r < size(); ++r)
    e.regions[r] = regions_[r]->data();
  e.words = words_;
  e.timeout = 5'000'000'000;
  return e;
}

std::vector<double> Ranks::time(int repeats, int samples,
                                const std::function<cudaError_t(std::uint32_t, cudaStream_t)>& call) {
  std::vector<cudaGraphExec_t> graphs(size());
  for (std::uint32_t r = 0; r < size(); ++r) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(streams_[r], cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < repeats; ++i)
      require(call(r, streams_[r]));
    require(cudaStreamEndCapture(streams_[r], &graph));
    require(cudaGraphInstantiate(&graphs[r], graph, 0));
    require(cudaGraphUpload(graphs[r], streams_[r]));
    require(cudaGraphDestroy(graph));
  }
  require(cudaDeviceSynchronize());
  std::vector<double> seconds;
  for (int sample = -1; sample < samples; ++sample) {
    require(cudaEventRecord(start_, streams_[0]));
    for (std::uint32_t r = 1; r < size(); ++r)
      require(cudaStreamWaitEvent(streams_[r], start_, 0));
    for (std::uint32_t r = 0; r < size(); ++r)
      require(cudaGraphLaunch(graphs[r], streams_[r]));
    for (std::uint32_t r = 1; r < size(); ++r) {
      require(cudaEventRecord(ends_[r], streams_[r]));
      require(cudaStreamWaitEvent(streams_[0], ends_[r], 0));
    }
    require(cudaEventRecord(stop_, streams_[0]));
    require(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_));
    if (sample >= 0) seconds.push_back(static_cast<double>(milliseconds) * 1e-3 / repeats);
  }
  for (const cudaGraphExec_t graph : graphs)
    require(cudaGraphExecDestroy(graph));
  if (*reinterpret_cast<volatile std::uint32_t*>(&words_->failure) != 0)
    throw std::runtime_error("a kernel waited too long for its peers");
  return seconds;
}

}  // namespace detccl::peer_bench
