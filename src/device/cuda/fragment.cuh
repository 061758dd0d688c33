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

/// From an address that is a multiple of kBytes. Streaming: every byte is read and written once.
template <int kBytes>
__device__ __forceinline__ void read(Fragment<kBytes>& f, const std::byte* from) {
  if constexpr (kBytes == 16) {
    const uint4 x = __ldcs(reinterpret_cast<const uint4*>(from));
    f.words[0] = x.x, f.words[1] = x.y, f.words[2] = x.z, f.words[3] = x.w;
  } else if constexpr (kBytes == 8) {
    const uint2 x = __ldcs(reinterpret_cast<const uint2*>(from));
    f.words[0] = x.x, f.words[1] = x.y;
  } else if constexpr (kBytes == 4) {
    f.words[0] = __ldcs(reinterpret_cast<const unsigned*>(from));
  } else if constexpr (kBytes == 2) {
    f.words[0] = __ldcs(reinterpret_cast<const unsigned short*>(from));
  } else {
    f.words[0] = __ldcs(reinterpret_cast<const unsigned char*>(from));
  }
}

template <int kBytes>
__device__ __forceinline__ void write(const Fragment<kBytes>& f, std::byte* to) {
  if constexpr (kBytes == 16) {
    __stcs(reinterpret_cast<uint4*>(to), make_uint4(f.words[0], f.words[1], f.words[2], f.words[3]));
  } else if constexpr (kBytes == 8) {
    __stcs(reinterpret_cast<uint2*>(to), make_uint2(f.words[0], f.words[1]));
  } else if constexpr (kBytes == 4) {
    __stcs(reinterpret_cast<unsigned*>(to), f.words[0]);
  } else if constexpr (kBytes == 2) {
    __stcs(reinterpret_cast<unsigned short*>(to), static_cast<unsigned short>(f.words[0]));
  } else {
    __stcs(reinterpret_cast<unsigned char*>(to), static_cast<unsigned char>(f.words[0]));
  }
}

/// One element at any address.
template <int kBytes>
__device__ __forceinline__ void read_bytes(Fragment<kBytes>& f, const std::byte* from) {
#pragma unroll
  for (int i = 0; i < kBytes; ++i) f.put(i, static_cast<std::uint8_t>(from[i]));
}

template <int kBytes>
__device__ __forceinline__ void write_bytes(const Fragment<kBytes>& f, std::byte* to) {
#pragma unroll
  for (int i = 0; i < kBytes; ++i) to[i] = static_cast<std::byte>(f.template get<std::uint8_t>(i));
}

}  // namespace detccl::device::cuda
