// SPDX-License-Identifier: Apache-2.0
// In place of the engine for GPUs, in a build without CUDA.
#include "nccl_api/gpu_shadow.h"
#include "nccl_api/gpu_tracing.h"
#include "nccl_api/last_error.h"

namespace detccl::nccl_api::gpu {

const char* unavailable() {
  return "this build of DetCCL was made without CUDA and reduces host memory only";
}

ncclResult_t connect(Communicator&) {
  return fail(ncclInvalidUsage, unavailable());
}

ncclResult_t enqueue(std::span<const Queued>) {
  return fail(ncclInvalidUsage, unavailable());
}

std::unique_ptr<GpuTracing> make_tracing(recorder::Recorder&) {
  return nullptr;
}

}  // namespace detccl::nccl_api::gpu
