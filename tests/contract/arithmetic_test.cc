// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "contract/element.h"

namespace detccl::contract {
namespace {

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
  return {-Limits::infinity(),   -Limits::max(), T{-1.5},       -Limits::min(),
          -Limits::denorm_min(), T{-0.0},        T{0.0},        Limits::denorm_min(),
          Limits::min(),         T{1.5},         Limits::max(), Limits::infinity()};
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
