// SPDX-License-Identifier: Apache-2.0
#include "read_kernel.h"

#include <algorithm>

namespace detccl::digest_bench {
namespace {

constexpr unsigned kThreads = 256, kUnroll = 8, kBlocksPerMultiprocessor = 8;

__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor / 2)
    read_kernel(const uint4* data, std::uint64_t words, std::uint64_t* out) {
  const std::uint64_t tile = std::uint64_t{gridDim.x} * (kThreads * kUnroll);
  unsigned all = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * (kThreads * kUnroll) + threadIdx.x; i < words;
       i += tile) {
    uint4 loaded[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint64_t at = i + u * kThreads;
      loaded[u] = at < words ? __ldg(data + at) : uint4{};
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u)
      all ^= loaded[u].x ^ loaded[u].y ^ loaded[u].z ^ loaded[u].w;
  }
  // Seldom written, but the compiler cannot know.
  if (all == 0x6a09e667) atomicXor(reinterpret_cast<unsigned long long*>(out), 1ULL);
}

}  // namespace

cudaError_t read(const void* data, std::uint64_t bytes, std::uint64_t* out, int multiprocessors,
                 cudaStream_t stream) {
  const std::uint64_t words = bytes / 16, tiles = (words + kThreads * kUnroll - 1) / (kThreads * kUnroll);
  const std::uint64_t most = std::uint64_t{kBlocksPerMultiprocessor} * static_cast<unsigned>(multiprocessors);
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(tiles, 1, most));
  read_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(data), words, out);
  return cudaGetLastError();
}

}  // namespace detccl::digest_bench
