// SPDX-License-Identifier: Apache-2.0
// The ceiling: a kernel that reads memory and does next to nothing with it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace detccl::digest_bench {

/// Reads `bytes` bytes (a multiple of 16) at `data`, a multiple of 16, and xors something into *out.
cudaError_t read(const void* data, std::uint64_t bytes, std::uint64_t* out, int multiprocessors,
                 cudaStream_t stream);

}  // namespace detccl::digest_bench
