// SPDX-License-Identifier: Apache-2.0
// Arithmetic on elements. Native accumulation computes in fp32 and rounds again; here it is compared with the
// exact result rounded once. Sums and products depend on significands, signs and the distance of exponents,
// except at the two ends of the range, so these are what is enumerated.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
  const int step = std::max(exponent - 1, kLowestExponent<Format>)-Format::kMantissaBits;
  const double result = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  const auto largest = static_cast<double>(decode<Format>(static_cast<typename Format::Bits>(Format::kLargest)));
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
    for (const float b : second) check(a, b);
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
  for (int distance = 0; distance <= 13; ++distance) check_sums<Float16>(16, 16 - distance);
  for (const int low : {0, 1}) check_sums<Float16>(low + 1, low);
  check_sums<Float16>(0, 0);
  for (const int distance : {0, 1, 10, 11, 12, 13, 30}) check_sums<Float16>(30, 30 - distance);
}

TEST(NativeArithmetic, Fp16ProductsAreRoundedOnce) {
  // Results from below the least subnormal to above the least normal value, in the middle, and overflowing.
  for (int exponent = 1; exponent <= 13; ++exponent) check_products<Float16>(4, exponent);
  check_products<Float16>(0, 0);
  check_products<Float16>(0, 14);
  check_products<Float16>(15, 15);
  for (const int exponent : {15, 16, 17, 30}) check_products<Float16>(30, exponent);
}

TEST(NativeArithmetic, Bf16SumsAreRoundedOnce) {
  for (const int high : {1, 2, 12, 128, 253, 254}) {
    for (int low = 0; low <= high; ++low) check_sums<Bfloat16>(high, low);
  }
  check_sums<Bfloat16>(0, 0);
}

TEST(NativeArithmetic, Bf16ProductsAreRoundedOnce) {
  for (const int exponent : {0, 1, 127, 254}) {
    for (int other = 0; other <= 254; ++other) check_products<Bfloat16>(exponent, other);
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

template <class T>
void check_order(const std::vector<T>& ascending) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const T a = ascending[i];
      const T b = ascending[j];
      EXPECT_EQ(bits_of(lesser(a, b)), bits_of(ascending[std::min(i, j)])) << a << ' ' << b;
      EXPECT_EQ(bits_of(greater(a, b)), bits_of(ascending[std::max(i, j)])) << a << ' ' << b;
    }
    for (const T other : {nan, -nan}) {
      EXPECT_EQ(bits_of(lesser(ascending[i], other)), bits_of(ascending[i]));
      EXPECT_EQ(bits_of(lesser(other, ascending[i])), bits_of(ascending[i]));
      EXPECT_EQ(bits_of(greater(ascending[i], other)), bits_of(ascending[i]));
      EXPECT_EQ(bits_of(greater(other, ascending[i])), bits_of(ascending[i]));
    }
  }
  EXPECT_TRUE(std::isnan(lesser(nan, -nan)));
  EXPECT_TRUE(std::isnan(greater(nan, -nan)));
}

template <class T>
std::vector<T> ascending_values() {
  using Limits = std::numeric_limits<T>;
  return {-Limits::infinity(), -Limits::max(), T{-1.5}, -Limits::min(), -Limits::denorm_min(), T{-0.0},
          T{0.0}, Limits::denorm_min(), Limits::min(), T{1.5}, Limits::max(), Limits::infinity()};
}

TEST(MinMax, OrderAllValuesDropNansAndPutMinusZeroFirst) {
  check_order(ascending_values<float>());
  check_order(ascending_values<double>());
}

TEST(Integers, WrapAndDivideTowardZero) {
  using Int8 = IntegerElement<std::int8_t>;
  EXPECT_EQ(Int8::add(0x7f, 1), 0x80);
  EXPECT_EQ(Int8::multiply(0x80, 0xff), 0x80);
  EXPECT_EQ(Int8::lesser(0x80, 0x7f), 0x80);
  EXPECT_EQ(Int8::average(0x80, 3), static_cast<std::uint8_t>(-42));
  EXPECT_EQ(Int8::average(0xff, 1000), 0);  // more ranks than the type can count
  using Uint8 = IntegerElement<std::uint8_t>;
  EXPECT_EQ(Uint8::lesser(0x80, 0x7f), 0x7f);
  EXPECT_EQ(Uint8::average(0xff, 2), 127);
  using Int32 = IntegerElement<std::int32_t>;
  EXPECT_EQ(Int32::multiply(0x80000000, 0xffffffff), 0x80000000);
  using Int64 = IntegerElement<std::int64_t>;
  EXPECT_EQ(Int64::average(0x8000000000000000, 2), 0xc000000000000000);
  using Uint64 = IntegerElement<std::uint64_t>;
  EXPECT_EQ(Uint64::average(0xffffffffffffffff, 0xffffffff), 0x100000001);
}

TEST(Floats, ANanHasOnePattern) {
  for (const std::uint32_t nan : {0x7f800001U, 0xffc00000U, 0xffffffffU}) {
    EXPECT_EQ(FloatElement<float>::store(float_of(nan)), kFloatNan);
  }
  EXPECT_EQ(FloatElement<double>::store(double_of(0xfff8000000000001)), kDoubleNan);
  EXPECT_EQ(FloatElement<float>::store(-INFINITY), 0xff800000);
}

}  // namespace
}  // namespace detccl::contract
