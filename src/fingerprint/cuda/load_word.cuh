// SPDX-License-Identifier: Apache-2.0
// A payload's words from device memory, at any address. No byte outside of the payload is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fingerprint/mix.h"

namespace detccl::fingerprint::cuda {

/// From a multiple of 16 bytes, of memory that nothing writes meanwhile.
__device__ __forceinline__ Word load_aligned(const std::byte* from) {
  const ulonglong2 w = __ldg(reinterpret_cast<const ulonglong2*>(from));
  return {w.x, w.y};
}

/// From any address, of which at least the 15 bytes before and after the word may be read too: the two
/// aligned pieces that it lies in.
__device__ __forceinline__ Word load_shifted(const std::byte* from) {
  const unsigned past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 16);
  const Word low = load_aligned(from - past);
  const Word high = load_aligned(from - past + 16);
  const bool by_half = past >= 8;
  const std::uint64_t first = by_half ? low.y : low.x;
  const std::uint64_t second = by_half ? high.x : low.y;
  const std::uint64_t third = by_half ? high.y : high.x;
  const unsigned bits = past % 8 * 8;
  return {first >> bits | second << 1 << (63 - bits), second >> bits | third << 1 << (63 - bits)};
}

/// `bytes` bytes, 16 at most, padded with zeros.
__device__ __forceinline__ Word load_bytes(const std::byte* from, unsigned bytes) {
  Word word;
  for (unsigned i = 0; i < bytes; ++i) {
    const std::uint64_t byte = static_cast<std::uint64_t>(from[i]) << (i % 8 * 8);
    (i < 8 ? word.x : word.y) |= byte;
  }
  return word;
}

}  // namespace detccl::fingerprint::cuda
