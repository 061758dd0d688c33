// SPDX-License-Identifier: Apache-2.0
#include "conversion_check.h"

#include "device/cuda/gpu_element.cuh"

namespace detccl::device::cuda {
namespace {

__device__ void count(bool differs, std::uint64_t* differing) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  if (differs) atomicAdd(reinterpret_cast<unsigned long long*>(differing), 1ULL);
}

template <class Format>
__global__ void compare_encodings(std::uint64_t* differing) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i >> 32 == 0; i += step) {
    const float x = contract::float_of(static_cast<std::uint32_t>(i));
    count(Conversion<Format>::encode(x) != contract::encode<Format>(x), differing);
  }
}

template <class Format>
__global__ void compare_decodings(std::uint64_t* differing) {
  using Bits = typename Format::Bits;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >> (8 * sizeof(Bits)) != 0) return;
  const float x = Conversion<Format>::decode(static_cast<Bits>(i));
  const float y = contract::decode<Format>(static_cast<Bits>(i));
  count(contract::canonical_bits(x) != contract::canonical_bits(y), differing);
}

}  // namespace

template <class Format>
cudaError_t count_differing_encodings(std::uint64_t* differing) {
  compare_encodings<Format><<<4096, 256>>>(differing);
  return cudaGetLastError();
}

template <class Format>
cudaError_t count_differing_decodings(std::uint64_t* differing) {
  compare_decodings<Format><<<256, 256>>>(differing);
  return cudaGetLastError();
}

template cudaError_t count_differing_encodings<contract::Float16>(std::uint64_t*);
template cudaError_t count_differing_encodings<contract::Bfloat16>(std::uint64_t*);
template cudaError_t count_differing_encodings<contract::Float8E4M3>(std::uint64_t*);
template cudaError_t count_differing_encodings<contract::Float8E5M2>(std::uint64_t*);
template cudaError_t count_differing_decodings<contract::Float16>(std::uint64_t*);
template cudaError_t count_differing_decodings<contract::Bfloat16>(std::uint64_t*);
template cudaError_t count_differing_decodings<contract::Float8E4M3>(std::uint64_t*);
template cudaError_t count_differing_decodings<contract::Float8E5M2>(std::uint64_t*);

}  // namespace detccl::device::cuda
