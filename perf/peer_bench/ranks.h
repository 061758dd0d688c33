// SPDX-License-Identifier: Apache-2.0
// Ranks of this process on one GPU, each with a region, buffers and a stream of its own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/cuda/peer/peer.h"
#include "gpu_bench/gpu.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/ring_reader.h"

namespace detccl::peer_bench {

namespace peer = device::cuda::peer;

class Ranks {
 public:
  Ranks(std::uint32_t ranks, std::uint32_t blocks, std::uint64_t bytes);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  std::uint32_t size() const { return layout_.ranks; }
  const peer::Layout& layout() const { return layout_; }
  peer::Endpoint endpoint(std::uint32_t rank) const;
  const std::byte* input(std::uint32_t rank) const { return inputs_[rank]->data(); }
  std::byte* output(std::uint32_t rank) const { return outputs_[rank]->data(); }

  /// Where rank `rank`'s operations leave their records.
  const recorder::Recording& recording(std::uint32_t rank) const { return recordings_[rank]; }
  /// Records that have come since the last call, so that there is room for as many.
  std::uint64_t take_records();

  /// Seconds of one of `repeats` calls by every rank: each rank's are in a CUDA graph of its own, so that the
  /// time is that of the GPU. The graphs run `samples` times after a run to warm up. Throws if a call failed.
  std::vector<double> time(int repeats, int samples,
                           const std::function<cudaError_t(std::uint32_t rank, cudaStream_t)>& call);

 private:
  peer::Layout layout_;
  std::vector<std::unique_ptr<gpu_bench::GpuMemory>> regions_, inputs_, outputs_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> ends_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  peer::HostWords* words_ = nullptr;
  recorder::cuda::DeviceRing ring_;
  std::optional<recorder::RingReader> reader_;
  std::vector<recorder::Recording> recordings_;
};

}  // namespace detccl::peer_bench
