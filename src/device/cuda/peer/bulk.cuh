// SPDX-License-Identifier: Apache-2.0
// Hopper's bulk copies between global and shared memory (PTX ISA, cp.async.bulk): one thread starts them, and
// no registers hold what is under way, so a block moves far more at a time than by loads and stores.
// Addresses and sizes are multiples of 16 bytes. Only where __CUDA_ARCH__ is 900 or more.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detccl::device::cuda::peer::bulk {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool kThere = true;
#else
inline constexpr bool kThere = false;
#endif

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A barrier whose phases end when `arrivals` threads have arrived and the bytes that they told of have come.
__device__ __forceinline__ void init(std::uint64_t* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Arrives and tells of `size` bytes.
__device__ __forceinline__ void expect(std::uint64_t* barrier, std::uint32_t size) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(size)
               : "memory");
}
__device__ __forceinline__ void load(std::byte* shared, const std::byte* from, std::uint32_t size,
                                     std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(shared)),
      "l"(from), "r"(size), "r"(shared_address(barrier))
      : "memory");
}

/// Until phase number `phase` of `barrier` has ended. What was loaded is then there for the thread to read.
__device__ __forceinline__ void wait(std::uint64_t* barrier, std::uint32_t phase) {
  asm volatile(
      "{\n"
      ".reg .pred ended;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "@!ended bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(phase & 1)
      : "memory");
}

__device__ __forceinline__ void store(std::byte* to, const std::byte* shared, std::uint32_t size) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(shared)), "r"(size)
               : "memory");
}
/// The thread's stores since the last commit are a group.
__device__ __forceinline__ void commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until all but the thread's last `kLeft` groups have been read from shared memory.
template <int kLeft>
__device__ __forceinline__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}
/// Until all the thread's stores have been made.
__device__ __forceinline__ void wait_stored() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// Between ordinary accesses to shared memory and bulk copies of it.
__device__ __forceinline__ void fence_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Between ordinary accesses to global memory and bulk copies of it.
__device__ __forceinline__ void fence_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace detccl::device::cuda::peer::bulk
