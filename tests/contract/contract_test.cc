// SPDX-License-Identifier: Apache-2.0
#include "contract/contract.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "contract/reference.h"

namespace detccl::contract {
namespace {

TEST(Contract, EveryContractParsesBackFromItsText) {
  for (const Order order : {Order::tree, Order::linear}) {
    const Contract native{order, Accumulate::native, 0};
    EXPECT_EQ(parse_contract(to_string(native)), native);
    for (std::uint64_t block = 0; block <= std::numeric_limits<std::uint32_t>::max();
         block = block == 0 ? 2 : 2 * block) {
      const Contract wide{order, Accumulate::wide, static_cast<std::uint32_t>(block)};
      EXPECT_EQ(parse_contract(to_string(wide)), wide) << to_string(wide);
    }
  }
}

TEST(Contract, TextsThatMeanTheSame) {
  EXPECT_EQ(to_string({}), "tree");
  EXPECT_EQ(parse_contract("tree:wide"), Contract{});
  EXPECT_EQ(parse_contract("linear/4"), (Contract{Order::linear, Accumulate::wide, 4}));
  EXPECT_EQ(to_string({Order::linear, Accumulate::wide, 4}), "linear:wide/4");
  EXPECT_EQ(to_string({Order::linear, Accumulate::native, 0}), "linear:native");
}

TEST(Contract, RefusesWhatIsNoContract) {
  for (const char* text : {"",
                           "tre",
                           "trees",
                           "Tree",
                           " tree",
                           "tree ",
                           "tree:",
                           "tree:narrow",
                           "tree:native/8",
                           "tree/",
                           "tree/0",
                           "tree/1",
                           "tree/3",
                           "tree/08",
                           "tree/+8",
                           "tree/-8",
                           "tree/8 ",
                           "tree/8x",
                           "tree/4294967296",
                           "tree:wide:native",
                           "ring",
                           "linear:wide/",
                           "tree/8:wide"}) {
    EXPECT_EQ(parse_contract(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(Contract, NamesParseBack) {
  for (int i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(name(type)), type);
  }
  for (int i = 0; i < kOps; ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(parse_op(name(op)), op);
  }
  EXPECT_EQ(parse_data_type("half"), std::nullopt);
  EXPECT_EQ(parse_op("SUM"), std::nullopt);
}

TEST(Contract, TreeSplitsAtTheLargestPowerOfTwoBelow) {
  EXPECT_EQ(tree_split(2), 1U);
  EXPECT_EQ(tree_split(3), 2U);
  EXPECT_EQ(tree_split(4), 2U);
  EXPECT_EQ(tree_split(5), 4U);
  EXPECT_EQ(tree_split(2432), 2048U);
  EXPECT_EQ(tree_split(4096), 2048U);
  EXPECT_EQ(tree_split(0x80000001U), 0x80000000U);
  EXPECT_EQ(tree_split(0xffffffffU), 0x80000000U);
}

TEST(Reference, WholeVectorsAreTheirElements) {
  // Three ranks, int8 at odd addresses.
  const std::vector<std::vector<std::int8_t>> data = {{0, 1, 2, -128}, {0, 3, -4, -128}, {0, 5, 6, -128}};
  std::vector<const void*> inputs;
  for (const auto& row : data)
    inputs.push_back(row.data() + 1);
  std::vector<std::int8_t> out(3);
  reduce({}, DataType::int8, Op::sum, inputs, out.data(), 3);
  EXPECT_EQ(out, (std::vector<std::int8_t>{9, 4, -128}));  // -384 wraps
  reduce({}, DataType::int8, Op::avg, inputs, out.data(), 3);
  EXPECT_EQ(out, (std::vector<std::int8_t>{3, 1, -42}));  // 4/3 and -128/3, toward zero
}

/// The example of docs/contract.md: bf16, five ranks with 256, 1, 1, 1 and -256.
TEST(Reference, WorkedExampleOfTheDocument) {
  const std::vector<std::uint64_t> values = {0x4380, 0x3f80, 0x3f80, 0x3f80, 0xc380};
  const auto result = [&](std::string_view contract, Op op) {
    return reduce_element(parse_contract(contract).value(), DataType::bfloat16, op, values);
  };
  EXPECT_EQ(result("tree", Op::sum), 0x4040U);           // 3
  EXPECT_EQ(result("linear", Op::sum), 0x4040U);         // 3
  EXPECT_EQ(result("tree/2", Op::sum), 0x4000U);         // 2
  EXPECT_EQ(result("tree:native", Op::sum), 0x4000U);    // 2
  EXPECT_EQ(result("linear:native", Op::sum), 0x0000U);  // 0
  EXPECT_EQ(result("tree", Op::avg), 0x3f1aU);           // 0.6015625, the bf16 next to 3/5
}

}  // namespace
}  // namespace detccl::contract
