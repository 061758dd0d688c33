// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/peer/request.h"
#include "device/cuda/peer/waiting.cuh"

namespace detccl::device::cuda::peer {
namespace {

__global__ void drain_kernel(const __grid_constant__ Part part) {
  const std::uint64_t steps =
      *reinterpret_cast<const std::uint64_t*>(part.regions[part.rank] + part.layout.counters(blockIdx.x));
  if (threadIdx.x == part.rank || failed_before(part)) return;
  std::uint64_t seen = 0;
  static_cast<void>(await_flag(part, Flag::done, threadIdx.x, steps, seen));
}

}  // namespace

cudaError_t launch_drain(Part part, cudaStream_t stream) {
  void* parameters[] = {&part};
  return cudaLaunchKernel(drain_kernel, dim3(part.layout.blocks), dim3(part.layout.ranks), parameters, 0,
                          stream);
}

cudaError_t load_drain() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, drain_kernel);
}

}  // namespace detccl::device::cuda::peer
