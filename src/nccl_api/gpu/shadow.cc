// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/shadow.h"

#include "nccl_api/channels.h"
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

ncclConfig_t config_of_ours(int ranks) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  config.splitShare = 0;
  config.commName = "DetCCL";
  const Configuration& c = runtime().environment.configuration();
  const auto channels = channels_per_peer(c.schedule, c.contract, c.group, static_cast<std::uint32_t>(ranks));
  if (channels) config.nChannelsPerNetPeer = static_cast<int>(*channels);
  return config;
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
  if (engine_->waiting_peers() != nullptr) {
    const Failure failure = engine_->waiting_peers()->failure();
    if (failure == Failure::timeout) return ncclRemoteError;
    if (failure == Failure::aborted) return ncclInternalError;
  }
  for (const transport::NcclExchange* exchange : engine_->exchanges()) {
    const ncclResult_t state = exchange->async_error();
    if (state != ncclSuccess) return state;
  }
  return ncclSuccess;
}

void Shadow::abort() {
  if (engine_->waiting_peers() != nullptr) engine_->waiting_peers()->abort();
  engine_->abort();
}

void Shadow::destroy() {
  if (engine_->waiting_peers() != nullptr) {
    static_cast<void>(gpu_guarded([&] {
      const engine::cuda::OnDevice guard(engine_->device());
      const engine::cuda::OutsideCapture outside;
      engine_->finish_peers();
      return ncclSuccess;
    }));
  }
  for (transport::NcclExchange* exchange : engine_->exchanges())
    static_cast<void>(exchange->destroy());
}

}  // namespace detccl::nccl_api::gpu
