// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

__global__ void fold(const float* a, const __nv_bfloat16* b, float* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = __fadd_rn(a[i], __bfloat162float(b[i]));
}

cudaError_t launch_fold(const float* a, const __nv_bfloat16* b, float* out, int count) {
  fold<<<(count + 255) / 256, 256>>>(a, b, out, count);
  return cudaGetLastError();
}
