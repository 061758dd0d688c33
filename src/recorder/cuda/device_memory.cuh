// SPDX-License-Identifier: Apache-2.0
// Access to a ring from the device, as ring.h wants it.
#pragma once

#include <cstdint>

namespace detccl::recorder::cuda {

using AtomicWord = unsigned long long;

__device__ __forceinline__ AtomicWord* word(std::uint64_t& x) {
  return reinterpret_cast<AtomicWord*>(&x);
}

/// The ring's state is the device's, so its atomics are the device's too; what goes to the host is made
/// visible to it.
struct DeviceMemory {
  __device__ static std::uint64_t load(std::uint64_t& x) { return *static_cast<volatile std::uint64_t*>(&x); }
  __device__ static void store(std::uint64_t& x, std::uint64_t value) {
    *static_cast<volatile std::uint64_t*>(&x) = value;
  }
  __device__ static std::uint64_t load_from_host(std::uint64_t& x) {
    const std::uint64_t value = load(x);
    __threadfence_system();  // the slot is written after this look
    return value;
  }
  __device__ static std::uint64_t compare_exchange(std::uint64_t& x, std::uint64_t expected,
                                                   std::uint64_t value) {
    return atomicCAS(word(x), static_cast<AtomicWord>(expected), static_cast<AtomicWord>(value));
  }
  __device__ static std::uint64_t add(std::uint64_t& x, std::uint64_t value) {
    return atomicAdd(word(x), static_cast<AtomicWord>(value));
  }
  __device__ static void maximum(std::uint64_t& x, std::uint64_t value) {
    atomicMax(word(x), static_cast<AtomicWord>(value));
  }
  __device__ static void publish(std::uint64_t& x, std::uint64_t value) {
    __threadfence_system();
    store(x, value);
  }
};

}  // namespace detccl::recorder::cuda
