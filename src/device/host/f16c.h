// SPDX-License-Identifier: Apache-2.0
// fp16 conversions by the processor's own instructions, for kernels_isa.cc. Bit-equal to contract::decode and
// contract::encode: the instructions ignore the flushing modes and are told to round to nearest even.
#pragma once

#ifdef __F16C__

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace detccl::device::host::DETCCL_KERNELS_ISA {
namespace {

/// Converts the first elements, a multiple of 8, and returns how many.
inline std::size_t decode_f16c(const void* payload, void* values, std::size_t n) {
  const auto* const in = static_cast<const char*>(payload);
  auto* const out = static_cast<char*>(values);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(in + 2 * i));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(out + 4 * i),
                        _mm256_castps_si256(_mm256_cvtph_ps(half)));
  }
  return i;
}

inline std::size_t encode_f16c(const void* values, void* payload, std::size_t n) {
  const auto* const in = static_cast<const char*>(values);
  auto* const out = static_cast<char*>(payload);
  const __m128i nan = _mm_set1_epi16(contract::Float16::kNan);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 x = _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(in + 4 * i)));
    const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m128i is_nan16 =
        _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(out + 2 * i), _mm_blendv_epi8(half, nan, is_nan16));
  }
  return i;
}

}  // namespace
}  // namespace detccl::device::host::DETCCL_KERNELS_ISA

#endif
