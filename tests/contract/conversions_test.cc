// SPDX-License-Identifier: Apache-2.0
// Conversions of the payload formats against those of the CUDA headers on the host.
#include <cmath>
#include <cstdint>
#include <random>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include "contract/element.h"

namespace detccl::contract {
namespace {

/// A format's conversions by the CUDA headers.
template <class Format>
struct Cuda;

template <>
struct Cuda<Float16> {
  static float to_float(std::uint16_t bits) { return __half2float(__half(__half_raw{bits})); }
  static std::uint16_t from_float(float x) { return static_cast<__half_raw>(__float2half_rn(x)).x; }
};

template <>
struct Cuda<Bfloat16> {
  static float to_float(std::uint16_t bits) {
    return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
  }
  static std::uint16_t from_float(float x) {
    return static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(x)).x;
  }
};

template <__nv_fp8_interpretation_t kKind>
struct CudaFp8 {
  static float to_float(std::uint8_t bits) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, kKind)));
  }
  static std::uint8_t from_float(float x) { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kKind); }
};

template <>
struct Cuda<Float8E4M3> : CudaFp8<__NV_E4M3> {};

template <>
struct Cuda<Float8E5M2> : CudaFp8<__NV_E5M2> {};

template <class Format>
class Conversions : public testing::Test {
 public:
  static void check_encode(std::uint32_t bits) {
    ASSERT_EQ(encode<Format>(float_of(bits)), Cuda<Format>::from_float(float_of(bits))) << std::hex << bits;
  }
};

using Formats = testing::Types<Float16, Bfloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(Conversions, Formats);

TYPED_TEST(Conversions, EveryValueDecodesExactly) {
  using Bits = typename TypeParam::Bits;
  for (std::uint32_t u = 0; u <= Layout<TypeParam>::kMagnitude * 2 + 1; ++u) {
    const auto bits = static_cast<Bits>(u);
    const float ours = decode<TypeParam>(bits);
    const float cuda = Cuda<TypeParam>::to_float(bits);
    if (std::isnan(cuda)) {
      ASSERT_TRUE(std::isnan(ours)) << std::hex << u;
      ASSERT_EQ(encode<TypeParam>(ours), TypeParam::kNan);
    } else {
      ASSERT_EQ(bits_of(ours), bits_of(cuda)) << std::hex << u;
    }
  }
}

TYPED_TEST(Conversions, EveryValueEncodesToItself) {
  using Bits = typename TypeParam::Bits;
  for (std::uint32_t u = 0; u <= Layout<TypeParam>::kMagnitude * 2 + 1; ++u) {
    const float x = decode<TypeParam>(static_cast<Bits>(u));
    if (std::isnan(x)) continue;
    const bool saturates = std::isinf(x) && sizeof(Bits) == 1;
    const auto largest = static_cast<Bits>(TypeParam::kLargest | (u & ~Layout<TypeParam>::kMagnitude));
    ASSERT_EQ(encode<TypeParam>(x), saturates ? largest : static_cast<Bits>(u)) << std::hex << u;
    ASSERT_EQ(NativeElement<TypeParam>::to_partial(x), static_cast<Bits>(u)) << std::hex << u;
  }
}

TYPED_TEST(Conversions, ValuesTiesAndTheirNeighboursEncode) {
  using Bits = typename TypeParam::Bits;
  const std::uint32_t sign = 1U << 31;
  for (std::uint32_t u = 0; u < Layout<TypeParam>::kMagnitude; ++u) {
    const float low = decode<TypeParam>(static_cast<Bits>(u));
    const float high = decode<TypeParam>(static_cast<Bits>(u + 1));
    if (std::isnan(low)) continue;
    const float before = decode<TypeParam>(static_cast<Bits>(u == 0 ? u : u - 1));
    const float tie =
        low + (std::isfinite(high) ? high - low : low - before) / 2;  // the last: where it overflows
    for (const float x : {low, tie}) {
      for (const std::uint32_t bits : {bits_of(x) - 1, bits_of(x), bits_of(x) + 1}) {
        this->check_encode(bits & ~sign);
        this->check_encode(bits | sign);
      }
    }
  }
}

TYPED_TEST(Conversions, EveryExponentOfFp32WithManyMantissasEncodes) {
  std::mt19937 random(7);
  for (std::uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent) {
    const std::uint32_t high = sign_and_exponent << 23;
    for (int shift = 0; shift < 23; ++shift) {
      const std::uint32_t one = 1U << shift;
      for (const std::uint32_t mantissa :
           {one, one - 1, one + 1, ~one, ~one + 1, 0U - one, 3U << shift, 5U << shift}) {
        this->check_encode(high | (mantissa & 0x7fffff));
      }
    }
    for (int i = 0; i < 16000; ++i)
      this->check_encode(high | (random() & 0x7fffff));
  }
}

TYPED_TEST(Conversions, SpecialValues) {
  const auto sign = static_cast<std::uint32_t>(1) << (Layout<TypeParam>::kBits - 1);
  EXPECT_EQ(encode<TypeParam>(0.0F), 0U);
  EXPECT_EQ(encode<TypeParam>(-0.0F), sign);
  for (const std::uint32_t nan : {0x7fffffffU, 0xffffffffU, 0x7f800001U, 0xff800001U, 0x7fc00000U}) {
    EXPECT_EQ(encode<TypeParam>(float_of(nan)), TypeParam::kNan);
  }
  EXPECT_EQ(encode<TypeParam>(INFINITY), TypeParam::kOverflow);
  EXPECT_EQ(encode<TypeParam>(-INFINITY), TypeParam::kOverflow | sign);
  EXPECT_EQ(encode<TypeParam>(3.4e38F), TypeParam::kOverflow);
  EXPECT_EQ(encode<TypeParam>(-1e-45F), sign);  // rounds to zero and keeps the sign
}

TEST(Conversions, LargestValuesAndWhereTheyOverflow) {
  EXPECT_EQ(encode<Float16>(65519.996F), 0x7bff);
  EXPECT_EQ(encode<Float16>(65520.0F), 0x7c00);  // the tie goes to infinity
  EXPECT_EQ(decode<Float8E4M3>(0x7e), 448.0F);
  EXPECT_EQ(encode<Float8E4M3>(1e6F), 0x7e);
  EXPECT_EQ(encode<Float8E4M3>(-INFINITY), 0xfe);
  EXPECT_EQ(decode<Float8E5M2>(0x7b), 57344.0F);
  EXPECT_EQ(encode<Float8E5M2>(INFINITY), 0x7b);
  EXPECT_EQ(decode<Float8E5M2>(0xfc), -INFINITY);  // read as it is
}

}  // namespace
}  // namespace detccl::contract
