// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/cuda/stream_engine.h"
#include "nccl_api/gpu/stopwatch.h"
#include "nccl_api/gpu_shadow.h"

namespace detccl::nccl_api::gpu {

/// Our communicator, made from the program's, and the engine that runs over it.
class Shadow final : public GpuShadow {
 public:
  Shadow(std::unique_ptr<engine::cuda::StreamEngine> engine, std::unique_ptr<Stopwatch> stopwatch)
      : engine_(std::move(engine)), stopwatch_(std::move(stopwatch)) {}
  ~Shadow() override;

  engine::cuda::StreamEngine& engine() { return *engine_; }
  Stopwatch& stopwatch() { return *stopwatch_; }

  ncclResult_t before_native(cudaStream_t stream) override;
  ncclResult_t after_native(cudaStream_t stream, bool later) override;
  bool over_peers() const override { return engine_->peers() != nullptr; }
  ncclResult_t async_error() const override;
  void abort() override;
  void destroy() override;

 private:
  std::unique_ptr<engine::cuda::StreamEngine> engine_;
  std::unique_ptr<Stopwatch> stopwatch_;
};

/// The real library's functions.
const transport::NcclFunctions& nccl_functions();

}  // namespace detccl::nccl_api::gpu
