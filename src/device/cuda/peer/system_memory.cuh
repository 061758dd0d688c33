// SPDX-License-Identifier: Apache-2.0
// Loads and stores of words that other GPUs, processes or the host write or read at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detccl::device::cuda::peer {

/// What the thread reads after it was written before the matching store_release().
__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* p) {
  std::uint64_t x;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
  return x;
}

__device__ __forceinline__ void store_release(std::uint64_t* p, std::uint64_t x) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(x) : "memory");
}

__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* p) {
  std::uint32_t x;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}

__device__ __forceinline__ void store_relaxed(std::uint32_t* p, std::uint32_t x) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}

/// Two 8-byte halves, each whole.
struct Packet {
  std::uint64_t low, high;
};
__device__ __forceinline__ Packet load_packet(const std::byte* p) {
  Packet x;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(x.low), "=l"(x.high)
               : "l"(p)
               : "memory");
  return x;
}
__device__ __forceinline__ void store_packet(std::byte* p, Packet x) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(x.low), "l"(x.high) : "memory");
}

/// Nanoseconds.
__device__ __forceinline__ std::uint64_t global_time() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

}  // namespace detccl::device::cuda::peer
