// SPDX-License-Identifier: Apache-2.0
// What counts as order-free has the contract's bits in any order of the ranks.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "contract/order_free.h"
#include "contract/reference.h"

namespace detccl::contract {
namespace {

/// Any bit pattern: numbers of all sizes, infinities, NaNs and zeros.
std::vector<std::uint64_t> random_values(DataType type, std::size_t ranks, std::mt19937_64& random) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(type));
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  std::vector<std::uint64_t> values;
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto kind = random() % 8;
    values.push_back(kind == 0 ? 0 : kind == 1 ? sign : kind == 2 ? mask >> 1 : random() & mask);
  }
  return values;
}

TEST(OrderFree, AnyOrderOfTheRanksHasTheContractsBits) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  int checked = 0;
  for (int t = 0; t < kDataTypes; ++t) {
    for (int o = 0; o < kOps; ++o) {
      for (std::uint32_t ranks = 2; ranks <= 9; ++ranks) {
        const auto type = static_cast<DataType>(t);
        const auto op = static_cast<Op>(o);
        if (!order_free(type, op, ranks)) continue;
        for (int i = 0; i < 200; ++i) {
          std::vector<std::uint64_t> values = random_values(type, ranks, random);
          const std::uint64_t tree = reduce_element({}, type, op, values);
          std::shuffle(values.begin(), values.end(), random);
          EXPECT_EQ(reduce_element({}, type, op, values), tree) << name(type) << " " << name(op);
          EXPECT_EQ(reduce_element({Order::linear, Accumulate::native, 0}, type, op, values), tree);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 10000);
}

TEST(OrderFree, SumsOfThreeAveragesAndScaledSumsAreNot) {
  for (const DataType type : {DataType::float32, DataType::bfloat16, DataType::float8e5m2}) {
    EXPECT_FALSE(order_free(type, Op::sum, 3));
    EXPECT_FALSE(order_free(type, Op::prod, 3));
    EXPECT_FALSE(order_free(type, Op::avg, 2));
    EXPECT_FALSE(order_free(type, Op::premulsum, 1));
  }
  EXPECT_FALSE(order_free(DataType::int32, Op::avg, 4));
  EXPECT_TRUE(order_free(DataType::float32, Op::sum, 2));
  EXPECT_FALSE(order_free(DataType::float64, Op::sum, 2)) << "a NaN's bits";
}

}  // namespace
}  // namespace detccl::contract
