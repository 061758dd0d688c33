// SPDX-License-Identifier: Apache-2.0
// fp16 and fp8, and bf16 accumulated natively: their conversions are too long to be repeated in every loop.
// They go through arrays of fp32 that stay in the first-level cache: decode, compute, encode.
#pragma once

#include "device/host/loops.h"

namespace detccl::device::host::DETCCL_KERNELS_ISA {
namespace {

using Fp32 = contract::FloatElement<float>;
constexpr std::size_t kStage = 256;

/// Elements `i` … `i + n` as fp32: where they are, or decoded into `stage`.
template <class Format, Storage kStorage>
const void* staged(const void* in, std::size_t i, std::size_t n, float* stage) {
  if constexpr (kStorage == Storage::value) return static_cast<const char*>(in) + i * sizeof(float);
  decode<Format>(static_cast<const char*>(in) + i * sizeof(typename Format::Bits), stage, n);
  return stage;
}

/// Rounds fp32 values to the format, as native accumulation does at each step.
template <class Format>
void round_values(void* values, std::size_t n) {
  typename Format::Bits rounded[kStage];
  encode<Format>(values, rounded, n);
  decode<Format>(rounded, values, n);
}

/// `values` to elements `i` … `i + n` of `out`, which is a payload.
template <class Format, Finish kFinish>
void finish_stage(float* values, void* out, std::size_t i, std::size_t n, std::uint32_t ranks) {
  if constexpr (kFinish == Finish::average) divide(values, n, ranks);
  encode<Format>(values, static_cast<char*>(out) + i * sizeof(typename Format::Bits), n);
}

template <class Format, bool kRoundEach, Op kOp, Storage kA, Storage kB, Finish kFinish>
void combine_staged(const void* a, const void* b, void* out, std::size_t n, std::uint32_t ranks) {
  float x[kStage];
  float y[kStage];
  for (std::size_t i = 0; i < n; i += kStage) {
    const std::size_t m = std::min(kStage, n - i);
    const void* const first = staged<Format, kA>(a, i, m, x);
    const void* const second = staged<Format, kB>(b, i, m, y);
    void* const sum =
        kFinish == Finish::keep ? static_cast<char*>(out) + i * sizeof(float) : static_cast<void*>(x);
    combine<Fp32, kOp, Storage::value, Storage::value, Finish::keep>(first, second, sum, m, ranks);
    // A sum that is rounded next need not be rounded twice.
    if constexpr (kRoundEach && kFinish != Finish::round) round_values<Format>(sum, m);
    if constexpr (kFinish != Finish::keep) finish_stage<Format, kFinish>(x, out, i, m, ranks);
  }
}

template <class Format, Storage kStorage, Finish kFinish>
void single_staged(const void* in, void* out, std::size_t n, std::uint32_t ranks) {
  float x[kStage];
  for (std::size_t i = 0; i < n; i += kStage) {
    const std::size_t m = std::min(kStage, n - i);
    const void* const values = staged<Format, kStorage>(in, i, m, x);
    if (values != x) std::memcpy(x, values, m * sizeof(float));
    finish_stage<Format, kFinish>(x, out, i, m, ranks);
  }
}

template <class Format>
void read_payload(const void* in, void* out, std::size_t n, std::uint32_t) {
  decode<Format>(in, out, n);
}

/// Exact, so an infinity of fp8 stays one: see contract::NativeElement::to_partial.
template <class Format>
void pack(const void* values, void* out, std::size_t n, std::uint32_t) {
  encode<Format, contract::Layout<Format>::kUnsaturated>(values, out, n);
}

template <class Format, bool kNative>
void scale_staged(const void* payload, std::uint64_t factor, void* values, std::size_t n) {
  const float y = contract::decode<Format>(static_cast<typename Format::Bits>(factor));
  for (std::size_t i = 0; i < n; i += kStage) {
    const std::size_t m = std::min(kStage, n - i);
    void* const out = static_cast<char*>(values) + i * sizeof(float);
    decode<Format>(static_cast<const char*>(payload) + i * sizeof(typename Format::Bits), out, m);
    multiply<Fp32, Storage::value>(out, y, out, m);
    if constexpr (kNative) round_values<Format>(out, m);
  }
}

}  // namespace
}  // namespace detccl::device::host::DETCCL_KERNELS_ISA
