// SPDX-License-Identifier: Apache-2.0
// Loops over arrays of any alignment, for kernels_isa.cc. Everything is internal to the including file, which
// is compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "contract/element.h"
#include "device/host/f16c.h"
#include "device/host/kernels.h"

namespace detccl::device::host::DETCCL_KERNELS_ISA {
namespace {

using contract::Op;

template <class T>
[[gnu::always_inline]] inline T read(const void* array, std::size_t i) {
  T x;
  std::memcpy(&x, static_cast<const char*>(array) + i * sizeof(T), sizeof(T));
  return x;
}

template <class T>
[[gnu::always_inline]] inline void write(void* array, std::size_t i, T x) {
  std::memcpy(static_cast<char*>(array) + i * sizeof(T), &x, sizeof(T));
}

template <class Element, Storage kStorage>
[[gnu::always_inline]] inline typename Element::Value value_at(const void* array, std::size_t i) {
  if constexpr (kStorage == Storage::value)
    return read<typename Element::Value>(array, i);
  else
    return Element::load(read<typename Element::Bits>(array, i));
}

template <class Element, Finish kFinish>
[[gnu::always_inline]] inline void finish_at(void* array, std::size_t i, typename Element::Value x,
                                             std::uint32_t ranks) {
  if constexpr (kFinish == Finish::keep)
    write(array, i, x);
  else if constexpr (kFinish == Finish::round)
    write(array, i, Element::store(x));
  else
    write(array, i, Element::average(x, ranks));
}

// noinline: staged_loops.h makes many functions of these few. ivdep: the compiler may assume that no output
// element is a later input element. It holds, see kernels.h.

template <class Element, Op kOp, Storage kA, Storage kB, Finish kFinish>
[[gnu::noinline]] void combine(const void* a, const void* b, void* out, std::size_t n, std::uint32_t ranks) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = value_at<Element, kA>(a, i);
    const auto y = value_at<Element, kB>(b, i);
    finish_at<Element, kFinish>(out, i, contract::combine<kOp, Element>(x, y), ranks);
  }
}

template <class Element, Storage kStorage, Finish kFinish>
[[gnu::noinline]] void single(const void* in, void* out, std::size_t n, std::uint32_t ranks) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i)
    finish_at<Element, kFinish>(out, i, value_at<Element, kStorage>(in, i), ranks);
}

template <class Element, Storage kStorage>
[[gnu::noinline]] void multiply(const void* in, typename Element::Value factor, void* values, std::size_t n) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i)
    write(values, i, Element::multiply(value_at<Element, kStorage>(in, i), factor));
}

[[gnu::noinline]] inline void divide(float* values, std::size_t n, std::uint32_t ranks) {
  const auto divisor = static_cast<float>(ranks);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = contract::divide(values[i], divisor);
}

template <class Format>
[[gnu::noinline]] void decode(const void* payload, void* values, std::size_t n) {
  std::size_t i = 0;
#ifdef __F16C__
  if constexpr (std::is_same_v<Format, contract::Float16>) i = decode_f16c(payload, values, n);
#endif
#pragma GCC ivdep
  for (; i < n; ++i)
    write(values, i, contract::decode<Format>(read<typename Format::Bits>(payload, i)));
}

template <class Format, std::uint32_t kOverflow = Format::kOverflow>
[[gnu::noinline]] void encode(const void* values, void* payload, std::size_t n) {
  std::size_t i = 0;
#ifdef __F16C__
  if constexpr (std::is_same_v<Format, contract::Float16>) i = encode_f16c(values, payload, n);
#endif
#pragma GCC ivdep
  for (; i < n; ++i)
    write(payload, i, contract::encode<Format, kOverflow>(read<float>(values, i)));
}

}  // namespace
}  // namespace detccl::device::host::DETCCL_KERNELS_ISA
