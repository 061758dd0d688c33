// SPDX-License-Identifier: Apache-2.0
// What element arithmetic needs to be one definition for host and GPU.
#pragma once

// Marks a function of the element arithmetic. On the host it is always inlined, so that translation units
// compiled for different instruction sets never share an out-of-line copy of it.
#ifdef __CUDACC__
#define DETCCL_HD __host__ __device__ __forceinline__
#else
#define DETCCL_HD [[gnu::always_inline]] inline
#endif
