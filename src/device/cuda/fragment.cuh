// SPDX-License-Identifier: Apache-2.0
// Some consecutive elements' bytes in registers, and their transfer from and to memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace detccl::device::cuda {

/// `kBytes` bytes; those of elements shorter than a word are packed.
template <int kBytes>
struct Fragment {
  static constexpr int kWords = (kBytes + 3) / 4;
  std::uint32_t words[kWords];

  template <class T>
  __device__ __forceinline__ T get(int i) const {
    if constexpr (sizeof(T) == 8) {
      return words[2 * i] | static_cast<std::uint64_t>(words[2 * i + 1]) << 32;
    } else {
      constexpr int kPerWord = 4 / sizeof(T);
      return static_cast<T>(words[i / kPerWord] >> (i % kPerWord * 8 * static_cast<int>(sizeof(T))));
    }
  }

  /// Elements are put in their order, from 0 on.
  template <class T>
  __device__ __forceinline__ void put(int i, T x) {
    if constexpr (sizeof(T) == 8) {
      words[2 * i] = static_cast<std::uint32_t>(x);
      words[2 * i + 1] = static_cast<std::uint32_t>(x >> 32);
    } else {
      constexpr int kPerWord = 4 / sizeof(T);
      const std::uint32_t at_place = static_cast<std::uint32_t>(x)
                                     << (i % kPerWord * 8 * static_cast<int>(sizeof(T)));
      words[i / kPerWord] = i % kPerWord == 0 ? at_place : words[i / kPerWord] | at_place;
    }
  }
};

/// From an address that is a multiple of kBytes. Without cache hints: evict-first loads and stores were
/// slower, and what comes next (a transfer of the result) finds some of it in the cache.
template <int kBytes>
__device__ __forceinline__ void read(Fragment<kBytes>& f, const std::byte* from) {
  if constexpr (kBytes == 16) {
    const uint4 x = *reinterpret_cast<const uint4*>(from);
    f.words[0] = x.x, f.words[1] = x.y, f.words[2] = x.z, f.words[3] = x.w;
  } else if constexpr (kBytes == 8) {
    const uint2 x = *reinterpret_cast<const uint2*>(from);
    f.words[0] = x.x, f.words[1] = x.y;
  } else if constexpr (kBytes == 4) {
    f.words[0] = *reinterpret_cast<const unsigned*>(from);
  } else if constexpr (kBytes == 2) {
    f.words[0] = *reinterpret_cast<const unsigned short*>(from);
  } else {
    f.words[0] = *reinterpret_cast<const unsigned char*>(from);
  }
}

template <int kBytes>
__device__ __forceinline__ void write(const Fragment<kBytes>& f, std::byte* to) {
  if constexpr (kBytes == 16) {
    *reinterpret_cast<uint4*>(to) = make_uint4(f.words[0], f.words[1], f.words[2], f.words[3]);
  } else if constexpr (kBytes == 8) {
    *reinterpret_cast<uint2*>(to) = make_uint2(f.words[0], f.words[1]);
  } else if constexpr (kBytes == 4) {
    *reinterpret_cast<unsigned*>(to) = f.words[0];
  } else if constexpr (kBytes == 2) {
    *reinterpret_cast<unsigned short*>(to) = static_cast<unsigned short>(f.words[0]);
  } else {
    *reinterpret_cast<unsigned char*>(to) = static_cast<unsigned char>(f.words[0]);
  }
}

/// From any address, of which not only the bytes are there: they must not be the first or last kBytes of
/// their array. Reads the two pieces between multiples of kBytes that they lie in.
template <int kBytes>
__device__ __forceinline__ void read_shifted(Fragment<kBytes>& f, const std::byte* from) {
  constexpr int kWords = Fragment<kBytes>::kWords;
  const unsigned past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % kBytes);
  Fragment<kBytes> low, high;
  read(low, from - past);
  read(high, from - past + kBytes);
  std::uint32_t words[2 * kWords];
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    words[w] = low.words[w], words[kWords + w] = high.words[w];
#pragma unroll
  for (int step = kWords / 2; step > 0; step /= 2) {
    const bool move = (past & static_cast<unsigned>(4 * step)) != 0;
#pragma unroll
    for (int w = 0; w < 2 * kWords - step; ++w)
      words[w] = move ? words[w + step] : words[w];
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    f.words[w] = __funnelshift_r(words[w], words[w + 1], 8 * (past % 4));
}

/// One element at any address.
template <int kBytes>
__device__ __forceinline__ void read_bytes(Fragment<kBytes>& f, const std::byte* from) {
#pragma unroll
  for (int i = 0; i < kBytes; ++i)
    f.put(i, static_cast<std::uint8_t>(from[i]));
}

template <int kBytes>
__device__ __forceinline__ void write_bytes(const Fragment<kBytes>& f, std::byte* to) {
#pragma unroll
  for (int i = 0; i < kBytes; ++i)
    to[i] = static_cast<std::byte>(f.template get<std::uint8_t>(i));
}

}  // namespace detccl::device::cuda
