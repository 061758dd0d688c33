// SPDX-License-Identifier: Apache-2.0
#include "fingerprint/cuda/digest.h"

#include "fingerprint/cuda/grid.h"
#include "fingerprint/widen.h"

namespace detccl::fingerprint::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kUnroll = 8;

/// How an element's bits are read and widened.
template <class B, std::uint64_t (*kWidenBits)(B)>
struct Format {
  using Bits = B;
  __device__ __forceinline__ static std::uint64_t widen(B bits) { return kWidenBits(bits); }
};

template <class Bits>
__device__ __forceinline__ Bits load(const std::byte* from, bool aligned) {
  if (aligned) return *reinterpret_cast<const Bits*>(from);
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < sizeof(Bits); ++i)
    bits |= static_cast<std::uint64_t>(from[i]) << 8 * i;
  return static_cast<Bits>(bits);
}

template <class Format>
__global__ void __launch_bounds__(kThreads)
    torch_hash_kernel(const std::byte* data, std::uint64_t count, bool aligned, std::uint64_t* hash) {
  using Bits = typename Format::Bits;
  std::uint64_t all = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * kThreads;
#pragma unroll kUnroll
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += threads)
    all ^= Format::widen(load<Bits>(data + i * sizeof(Bits), aligned));
#pragma unroll
  for (unsigned distance = 16; distance > 0; distance /= 2)
    all ^= __shfl_xor_sync(0xffffffff, all, distance);
  if (threadIdx.x % 32 == 0)
    atomicXor(reinterpret_cast<unsigned long long*>(hash), static_cast<unsigned long long>(all));
}

/// Calls visitor(Format{}) with that of `type`.
template <class Visitor>
cudaError_t visit(TorchType type, Visitor visitor) {
  switch (type) {
    case TorchType::boolean:
      return visitor(Format<std::uint8_t, widen_bool>{});
    case TorchType::uint8:
      return visitor(Format<std::uint8_t, widen_integer<std::uint8_t>>{});
    case TorchType::int8:
      return visitor(Format<std::int8_t, widen_integer<std::int8_t>>{});
    case TorchType::int16:
      return visitor(Format<std::int16_t, widen_integer<std::int16_t>>{});
    case TorchType::int32:
      return visitor(Format<std::int32_t, widen_integer<std::int32_t>>{});
    case TorchType::float16:
      return visitor(Format<std::uint16_t, widen_float<std::uint16_t, 5, 10>>{});
    case TorchType::bfloat16:
      return visitor(Format<std::uint16_t, widen_float<std::uint16_t, 8, 7>>{});
    case TorchType::float32:
      return visitor(Format<std::uint32_t, widen_float<std::uint32_t, 8, 23>>{});
    case TorchType::int64:
    case TorchType::float64:
      break;
  }
  return visitor(Format<std::uint64_t, widen_integer<std::uint64_t>>{});
}

}  // namespace

cudaError_t torch_hash(TorchType type, const void* data, std::uint64_t count, std::uint64_t* hash,
                       LaunchLimits limits, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  unsigned blocks = 0;
  const std::uint64_t tile = kThreads * kUnroll;
  const cudaError_t error = blocks_for((count + tile - 1) / tile, 1, limits, blocks);
  if (error != cudaSuccess) return error;
  return visit(type, [&]<class F>(F) {
    bool aligned = reinterpret_cast<std::uintptr_t>(data) % sizeof(typename F::Bits) == 0;
    void* parameters[] = {&data, &count, &aligned, &hash};
    return cudaLaunchKernel(torch_hash_kernel<F>, dim3(blocks), dim3(kThreads), parameters, 0, stream);
  });
}

cudaError_t load_torch_hash_kernels() {
  for (int type = 0; type < kTorchTypes; ++type) {
    const cudaError_t error = visit(static_cast<TorchType>(type), []<class F>(F) {
      cudaFuncAttributes attributes;
      return cudaFuncGetAttributes(&attributes, torch_hash_kernel<F>);
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t load_kernels() {
  const cudaError_t error = load_digest_kernels();
  return error == cudaSuccess ? load_torch_hash_kernels() : error;
}

}  // namespace detccl::fingerprint::cuda
