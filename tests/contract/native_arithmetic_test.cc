// SPDX-License-Identifier: Apache-2.0
// Native accumulation computes in fp32 and rounds again; here it is compared with the
// exact result rounded once. Sums and products depend on significands, signs and the distance of exponents,
// except at the two ends of the range, so these are what is enumerated.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "contract/element.h"

namespace detccl::contract {
namespace {

template <class Format>
constexpr int kLowestExponent = 1 - Format::kExponentBias;  // of normal values

/// `x`, exact or correct to 53 bits, rounded to the format without a detour; as a value.
template <class Format>
double rounded_once(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);  // x = f * 2^exponent, f in [1/2, 1)
  const int step = std::max(exponent - 1, kLowestExponent<Format>) - Format::kMantissaBits;
  const double result = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  const auto largest =
      static_cast<double>(decode<Format>(static_cast<typename Format::Bits>(Format::kLargest)));
  if (std::abs(result) <= largest) return result;
  return std::copysign(sizeof(typename Format::Bits) == 1 ? largest : INFINITY, x);
}

template <class Format>
void check_sum(float a, float b) {
  const double expected = rounded_once<Format>(static_cast<double>(a) + static_cast<double>(b));
  ASSERT_EQ(static_cast<double>(NativeElement<Format>::add(a, b)), expected) << a << " + " << b;
}

template <class Format>
void check_product(float a, float b) {
  const double expected = rounded_once<Format>(static_cast<double>(a) * static_cast<double>(b));
  const float product = NativeElement<Format>::multiply(a, b);
  ASSERT_EQ(static_cast<double>(product), expected) << a << " * " << b;
  ASSERT_EQ(std::signbit(product), std::signbit(a) != std::signbit(b)) << a << " * " << b;
}

/// The values with biased exponent `exponent` (0: the subnormals and zero) and positive sign.
template <class Format>
std::vector<float> binade(int exponent) {
  std::vector<float> values;
  for (int mantissa = 0; mantissa < (1 << Format::kMantissaBits); ++mantissa) {
    const int bits = (exponent << Format::kMantissaBits) | mantissa;
    values.push_back(decode<Format>(static_cast<typename Format::Bits>(bits)));
  }
  return values;
}

/// Every significand in binade `e1` with every one in binade `e2`.
template <class Format, class Check>
void with_binades(int e1, int e2, Check check) {
  const std::vector<float> first = binade<Format>(e1);
  const std::vector<float> second = binade<Format>(e2);
  for (const float a : first) {
    for (const float b : second)
      check(a, b);
  }
}

template <class Format>
void check_sums(int e1, int e2) {
  with_binades<Format>(e1, e2, [](float a, float b) {
    check_sum<Format>(a, b);
    check_sum<Format>(a, -b);
  });
}

template <class Format>
void check_products(int e1, int e2) {
  with_binades<Format>(e1, e2, [](float a, float b) {
    check_product<Format>(a, b);
    check_product<Format>(-a, b);
  });
}

TEST(NativeArithmetic, Fp16SumsAreRoundedOnce) {
  for (int distance = 0; distance <= 13; ++distance)
    check_sums<Float16>(16, 16 - distance);
  for (const int low : {0, 1})
    check_sums<Float16>(low + 1, low);
  check_sums<Float16>(0, 0);
  for (const int distance : {0, 1, 10, 11, 12, 13, 30})
    check_sums<Float16>(30, 30 - distance);
}

TEST(NativeArithmetic, Fp16ProductsAreRoundedOnce) {
  // Results from below the least subnormal to above the least normal value, in the middle, and overflowing.
  for (int exponent = 1; exponent <= 13; ++exponent)
    check_products<Float16>(4, exponent);
  check_products<Float16>(0, 0);
  check_products<Float16>(0, 14);
  check_products<Float16>(15, 15);
  for (const int exponent : {15, 16, 17, 30})
    check_products<Float16>(30, exponent);
}

TEST(NativeArithmetic, Bf16SumsAreRoundedOnce) {
  for (const int high : {1, 2, 12, 128, 253, 254}) {
    for (int low = 0; low <= high; ++low)
      check_sums<Bfloat16>(high, low);
  }
  check_sums<Bfloat16>(0, 0);
}

TEST(NativeArithmetic, Bf16ProductsAreRoundedOnce) {
  for (const int exponent : {0, 1, 127, 254}) {
    for (int other = 0; other <= 254; ++other)
      check_products<Bfloat16>(exponent, other);
  }
}

template <class Format>
void check_all_pairs() {
  for (std::uint32_t a = 0; a < 256; ++a) {
    for (std::uint32_t b = 0; b < 256; ++b) {
      const float x = decode<Format>(static_cast<std::uint8_t>(a));
      const float y = decode<Format>(static_cast<std::uint8_t>(b));
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      check_sum<Format>(x, y);
      check_product<Format>(x, y);
    }
  }
}

TEST(NativeArithmetic, EveryFp8SumAndProductIsRoundedOnce) {
  check_all_pairs<Float8E4M3>();
  check_all_pairs<Float8E5M2>();
}

TEST(NativeArithmetic, InfinityOfFp8SaturatesWhenItIsAdded) {
  using Element = NativeElement<Float8E5M2>;
  const float infinity = Element::load(0x7c);
  EXPECT_EQ(infinity, INFINITY);
  EXPECT_EQ(Element::add(infinity, 1.0F), 57344.0F);
  EXPECT_TRUE(std::isnan(Element::add(infinity, -infinity)));
  EXPECT_EQ(Element::greater(infinity, 1.0F), INFINITY);
  EXPECT_EQ(Element::to_partial(infinity), 0x7c);
  EXPECT_EQ(Element::store(infinity), 0x7b);
}

}  // namespace
}  // namespace detccl::contract
