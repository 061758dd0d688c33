// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/shadow.h"

#include "nccl_api/gpu/gpu_border.h"
#include "nccl_api/log.h"
#include "nccl_api/runtime.h"

namespace detccl::nccl_api::gpu {
namespace {

constexpr transport::NcclFunctions kFunctions{
    .group_start = [] { return real().GroupStart(); },
    .group_end = [] { return real().GroupEnd(); },
    .send = [](const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream) { return real().Send(data, count, type, peer, comm, stream); },
    .receive = [](void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) { return real().Recv(data, count, type, peer, comm, stream); },
    .all_gather = [](const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                     cudaStream_t stream) { return real().AllGather(from, to, count, type, comm, stream); },
    .destroy = [](ncclComm_t comm) { return real().CommDestroy(comm); },
    .abort = [](ncclComm_t comm) { return real().CommAbort(comm); },
    .get_async_error = [](ncclComm_t comm,
                          ncclResult_t* state) { return real().CommGetAsyncError(comm, state); },
    .get_error_string = [](ncclResult_t code) { return real().GetErrorString(code); },
};

}  // namespace

const transport::NcclFunctions& nccl_functions() {
  return kFunctions;
}

Shadow::~Shadow() {
  // NCCL's own end first: then none of its kernels touches the scratch, which is freed with the engine.
  abort();
  try {
    const engine::cuda::OnDevice guard(engine_->device());
    const engine::cuda::OutsideCapture outside;
    sampler_.reset();
    stopwatch_.reset();
    engine_.reset();
  } catch (const engine::cuda::CudaError& e) {
    log_line(LogLevel::warn, e.what());
  }
}

ncclResult_t Shadow::before_native(cudaStream_t stream) {
  return gpu_guarded([&] {
    const engine::cuda::OnDevice guard(engine_->device());
    engine_->order().before(stream, engine::cuda::capture_of(stream));
    return ncclSuccess;
  });
}

ncclResult_t Shadow::after_native(cudaStream_t stream, bool later) {
  return gpu_guarded([&] {
    const engine::cuda::OnDevice guard(engine_->device());
    engine_->order().after(stream, engine::cuda::capture_of(stream), later);
    return ncclSuccess;
  });
}

ncclResult_t Shadow::async_error() const {
  using device::cuda::peer::Failure;
  if (engine_->peers() != nullptr) {
    const Failure failure = engine_->peers()->failure();
    if (failure == Failure::timeout) return ncclRemoteError;
    if (failure == Failure::aborted) return ncclInternalError;
  }
  for (std::uint32_t lane = 0; engine_->exchange() != nullptr && lane < engine_->lanes(); ++lane) {
    const ncclResult_t state = engine_->exchange(lane)->async_error();
    if (state != ncclSuccess) return state;
  }
  return ncclSuccess;
}

void Shadow::abort() {
  if (engine_->peers() != nullptr) engine_->peers()->abort();
  engine_->abort();
}

void Shadow::destroy() {
  if (engine_->peers() != nullptr) {
    static_cast<void>(gpu_guarded([&] {
      const engine::cuda::OnDevice guard(engine_->device());
      const engine::cuda::OutsideCapture outside;
      engine_->finish_peers();
      return ncclSuccess;
    }));
  }
  for (std::uint32_t lane = 0; engine_->exchange() != nullptr && lane < engine_->lanes(); ++lane)
    static_cast<void>(engine_->exchange(lane)->destroy());
}

}  // namespace detccl::nccl_api::gpu
