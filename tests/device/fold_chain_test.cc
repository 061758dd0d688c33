// SPDX-License-Identifier: Apache-2.0
// Reductions made of several folds, as plans make them: partial results of subtrees and prefixes, blocks.
#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "contract/reference.h"
#include "device/host/fold_isa.h"
#include "random_values.h"

namespace detccl::device::host {
namespace {

using contract::Accumulate;
using contract::Contract;
using contract::DataType;
using contract::Op;
using contract::Order;
using plan::Form;

/// A reduction cut into folds at random.
class RandomPlan {
 public:
  RandomPlan(Random& random, const Arithmetic& a, Isa isa, std::size_t count)
      : random_(random), a_(a), isa_(isa), count_(count) {}

  /// `leaves` combined in order, by one fold of operands that are leaves or themselves such results.
  Operand evaluate(std::vector<Operand> leaves, Form form) {
    std::vector<Operand> operands;
    if (leaves.size() > 1) {
      const std::size_t group = group_size(leaves.size());
      for (std::size_t i = 0; i < leaves.size();) {
        const std::size_t size = a_.order == Order::linear && i > 0 ? 1 : std::min(group, leaves.size() - i);
        const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(i);
        operands.push_back(operand({first, first + static_cast<std::ptrdiff_t>(size)}));
        i += size;
      }
    } else {
      operands = std::move(leaves);
    }
    Bytes& result = results_.emplace_back(random_, count_ * element_size(a_, form));
    fold_on(isa_, a_, operands, result.data(), form, count_);
    EXPECT_TRUE(result.guards_intact());
    return {result.data(), form};
  }

 private:
  /// A leaf as it is or as a partial result of one; else the partial result of several.
  Operand operand(std::vector<Operand> leaves) {
    if (leaves.size() == 1 && below(random_, 4) != 0) return leaves[0];
    return evaluate(std::move(leaves), Form::partial);
  }

  /// Tree: aligned subtrees of a power of two. Linear: a prefix; then single values follow.
  std::size_t group_size(std::size_t leaves) {
    if (a_.order == Order::linear) return 1 + below(random_, leaves - 1);
    std::size_t size = 1;
    while (2 * size < leaves && below(random_, 2) == 0)
      size *= 2;
    return size;
  }

  Random& random_;
  const Arithmetic& a_;
  Isa isa_;
  std::size_t count_;
  std::deque<Bytes> results_;
};

/// The whole reduction: by blocks if the contract has them.
void check(Random& random, const Contract& contract, DataType type, Op op, std::size_t ranks) {
  const std::size_t count = 1 + below(random, 150);
  const Arithmetic a{type,
                     op,
                     contract.order,
                     contract.accumulate,
                     static_cast<std::uint32_t>(ranks),
                     random_element(random, type)};
  SCOPED_TRACE(std::string(name(type)) + " " + std::string(name(op)) + " " + to_string(contract) + " ranks " +
               std::to_string(ranks) + " count " + std::to_string(count));
  std::vector<Bytes> inputs;
  std::vector<const void*> pointers;
  std::vector<Operand> leaves;
  for (std::size_t i = 0; i < ranks; ++i)
    inputs.emplace_back(random, type, count);
  for (const Bytes& input : inputs) {
    pointers.push_back(input.data());
    leaves.push_back({input.data(), Form::raw});
  }
  Bytes expected(random, count * contract::size_of(type));
  contract::reduce(contract, type, op, pointers, expected.data(), count, a.scalar);

  for (const Isa isa : isas()) {
    RandomPlan plan(random, a, isa, count);
    std::vector<Operand> blocks = leaves;
    if (contract.block != 0 && ranks > 1) {
      blocks.clear();
      for (std::size_t i = 0; i < ranks; i += contract.block) {
        const auto first = leaves.begin() + static_cast<std::ptrdiff_t>(i);
        const auto size = static_cast<std::ptrdiff_t>(std::min<std::size_t>(contract.block, ranks - i));
        blocks.push_back(plan.evaluate({first, first + size}, Form::rounded));
      }
    }
    const Operand result = plan.evaluate(blocks, Form::final);
    EXPECT_EQ(std::memcmp(result.data, expected.data(), expected.size()), 0)
        << "isa " << static_cast<int>(isa);
  }
}

TEST(FoldChain, AnyCutOfAReductionGivesTheSameBits) {
  Random random(new_seed());
  for (int i = 0; i < 6000 && !testing::Test::HasFailure(); ++i) {
    Contract contract;
    contract.order = below(random, 2) == 0 ? Order::tree : Order::linear;
    contract.accumulate = below(random, 3) == 0 ? Accumulate::native : Accumulate::wide;
    if (contract.accumulate == Accumulate::wide && below(random, 3) == 0)
      contract.block = 2U << below(random, 3);
    check(random, contract, static_cast<DataType>(below(random, contract::kDataTypes)),
          static_cast<Op>(below(random, contract::kOps)), 1 + below(random, 33));
  }
}

TEST(FoldChain, ElementSizes) {
  Arithmetic a{DataType::bfloat16, Op::sum, Order::tree, Accumulate::wide, 2, 0};
  EXPECT_EQ(element_size(a, Form::raw), 2U);
  EXPECT_EQ(element_size(a, Form::partial), 4U);
  EXPECT_EQ(element_size(a, Form::rounded), 2U);
  EXPECT_EQ(element_size(a, Form::final), 2U);
  a.accumulate = Accumulate::native;
  EXPECT_EQ(element_size(a, Form::partial), 2U);
  a.type = DataType::float64;
  EXPECT_EQ(element_size(a, Form::partial), 8U);
}

}  // namespace
}  // namespace detccl::device::host
