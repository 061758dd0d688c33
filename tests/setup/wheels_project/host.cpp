// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <nvtx3/nvToolsExt.h>

static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0));

cudaError_t launch_fold(const float* a, const __nv_bfloat16* b, float* out, int count);

// Prints the versions it was built with, and what a launch gives here: success, or no driver or device.
int main() {
  int runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) return 1;
  nvtxMarkA("wheels_project");
  const cudaError_t launched = launch_fold(nullptr, nullptr, nullptr, 0);
  std::printf("runtime %d, NCCL %d, launch of nothing: %s\n", runtime, NCCL_VERSION_CODE,
              cudaGetErrorName(launched));
  return 0;
}
