// SPDX-License-Identifier: Apache-2.0
// What a packet carries: 8 bytes of payload, at any address, as a word; and a flag in each half of it.
#pragma once

#include "device/cuda/peer/system_memory.cuh"

namespace detccl::device::cuda::peer {

inline constexpr std::uint32_t kUnit = 8;  ///< bytes of payload in a packet

/// Bytes `at` … of an array of `bytes` bytes, one by one; what is beyond its end is 0.
inline __device__ __noinline__ std::uint64_t load_bytes(const std::byte* array, std::uint64_t at,
                                                        std::uint64_t bytes) {
  std::uint64_t x = 0;
  for (std::uint32_t i = 0; i < kUnit; ++i) {
    if (at + i < bytes) x |= static_cast<std::uint64_t>(array[at + i]) << 8 * i;
  }
  return x;
}

__device__ __forceinline__ bool is_whole_unit(const std::byte* array, std::uint64_t at, std::uint64_t bytes) {
  return at + kUnit <= bytes && reinterpret_cast<std::uintptr_t>(array + at) % kUnit == 0;
}

__device__ __forceinline__ std::uint64_t load_unit(const std::byte* array, std::uint64_t at,
                                                   std::uint64_t bytes) {
  if (is_whole_unit(array, at, bytes)) return *reinterpret_cast<const std::uint64_t*>(array + at);
  return load_bytes(array, at, bytes);
}

__device__ inline void store_unit(std::byte* array, std::uint64_t at, std::uint64_t bytes, std::uint64_t x) {
  std::byte* const to = array + at;
  if (is_whole_unit(array, at, bytes)) {
    *reinterpret_cast<std::uint64_t*>(to) = x;
    return;
  }
  for (std::uint32_t i = 0; i < kUnit; ++i) {
    if (at + i < bytes) to[i] = static_cast<std::byte>(x >> 8 * i);
  }
}

__device__ __forceinline__ Packet pack(std::uint64_t x, std::uint32_t flag) {
  const std::uint64_t high = std::uint64_t{flag} << 32;
  return {(x & 0xffffffff) | high, x >> 32 | high};
}
__device__ __forceinline__ bool has(const Packet& p, std::uint32_t flag) {
  return static_cast<std::uint32_t>(p.low >> 32) == flag && static_cast<std::uint32_t>(p.high >> 32) == flag;
}

/// What of the unit at byte `at` is within an array of `bytes` bytes.
__device__ __forceinline__ std::uint64_t within(std::uint64_t x, std::uint64_t at, std::uint64_t bytes) {
  return at + kUnit <= bytes ? x : x & ((std::uint64_t{1} << 8 * (bytes - at)) - 1);
}

}  // namespace detccl::device::cuda::peer
