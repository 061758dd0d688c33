// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/cuda/stream_engine.h"
#include "nccl_api/gpu/sampler.h"
#include "nccl_api/gpu/stopwatch.h"
#include "nccl_api/gpu_shadow.h"

namespace detccl::nccl_api::gpu {

/// Our communicator, made from the program's, and the engine that runs over it.
class Shadow final : public GpuShadow {
 public:
  /// `sampler`: null where none is asked for.
  Shadow(std::unique_ptr<engine::cuda::StreamEngine> engine, std::unique_ptr<Stopwatch> stopwatch,
         std::unique_ptr<Sampler> sampler)
      : engine_(std::move(engine)), stopwatch_(std::move(stopwatch)), sampler_(std::move(sampler)) {}
  ~Shadow() override;

  engine::cuda::StreamEngine& engine() { return *engine_; }
  Stopwatch& stopwatch() { return *stopwatch_; }
  Sampler* sampler() { return sampler_.get(); }

  ncclResult_t before_native(cudaStream_t stream) override;
  ncclResult_t after_native(cudaStream_t stream, bool later) override;
  bool over_peers() const override { return engine_->peers() != nullptr; }
  bool records(const engine::Reduction& call, bool alone) const override {
    return engine_->records(call, alone);
  }
  ncclResult_t async_error() const override;
  void abort() override;
  void destroy() override;

 private:
  std::unique_ptr<engine::cuda::StreamEngine> engine_;
  std::unique_ptr<Stopwatch> stopwatch_;
  std::unique_ptr<Sampler> sampler_;
};

/// The real library's functions.
const transport::NcclFunctions& nccl_functions();

/// Of a communicator of our own of so many ranks.
ncclConfig_t config_of_ours(int ranks);

}  // namespace detccl::nccl_api::gpu
