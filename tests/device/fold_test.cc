// SPDX-License-Identifier: Apache-2.0
// One fold of raw values to the result, against the reference evaluator.
#include "device/host/fold.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "contract/reference.h"
#include "device/host/fold_isa.h"
#include "random_values.h"

namespace detccl::device::host {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;
using contract::Order;
using plan::Form;

std::string describe(const Arithmetic& a, std::size_t count) {
  return std::string(name(a.type)) + " " + std::string(name(a.op)) + " " +
         to_string(contract::Contract{a.order, a.accumulate, 0}) + " ranks " + std::to_string(a.ranks) +
         " count " + std::to_string(count);
}

std::vector<Arithmetic> all_arithmetic() {
  std::vector<Arithmetic> all;
  for (int type = 0; type < contract::kDataTypes; ++type) {
    for (int op = 0; op < contract::kOps; ++op) {
      for (const Order order : {Order::tree, Order::linear}) {
        for (const Accumulate accumulate : {Accumulate::wide, Accumulate::native}) {
          all.push_back({static_cast<DataType>(type), static_cast<Op>(op), order, accumulate, 1, 0});
        }
      }
    }
  }
  return all;
}

Bytes reference_result(Random& random, const Arithmetic& a, const std::vector<Bytes>& inputs,
                       std::size_t count) {
  Bytes out(random, count * contract::size_of(a.type));
  std::vector<const void*> pointers;
  for (const Bytes& input : inputs)
    pointers.push_back(input.data());
  contract::reduce({a.order, a.accumulate, 0}, a.type, a.op, pointers, out.data(), count, a.scalar);
  return out;
}

/// Folds `inputs` into a new array, then, in place, into a copy of each of two of them.
void check_fold(Random& random, Arithmetic a, std::size_t operands, std::size_t count) {
  a.ranks = static_cast<std::uint32_t>(operands);
  a.scalar = random_element(random, a.type);
  SCOPED_TRACE(describe(a, count));
  std::vector<Bytes> inputs;
  for (std::size_t i = 0; i < operands; ++i)
    inputs.emplace_back(random, a.type, count);
  const Bytes expected = reference_result(random, a, inputs, count);
  std::vector<Operand> views;
  for (const Bytes& input : inputs)
    views.push_back({input.data(), Form::raw});

  for (const Isa isa : isas()) {
    Bytes out(random, expected.size());
    fold_on(isa, a, views, out.data(), Form::final, count);
    EXPECT_TRUE(out.same(expected)) << "isa " << static_cast<int>(isa);
    EXPECT_TRUE(out.guards_intact());
    for (const std::size_t place : {below(random, operands), operands - 1}) {
      Bytes in_place = inputs[place];
      auto in_place_views = views;
      in_place_views[place].data = in_place.data();
      fold_on(isa, a, in_place_views, in_place.data(), Form::final, count);
      EXPECT_TRUE(in_place.same(expected)) << "isa " << static_cast<int>(isa) << " in place of " << place;
      EXPECT_TRUE(in_place.guards_intact());
    }
  }
}

TEST(Fold, EveryTypeOpAndOrderOnOneToSeventeenOperands) {
  Random random(new_seed());
  for (const Arithmetic& a : all_arithmetic()) {
    for (std::size_t operands = 1; operands <= 17; ++operands) {
      check_fold(random, a, operands, 1 + below(random, 70));
      if (HasFailure()) return;
    }
  }
}

TEST(Fold, CountsAroundTheBlocks) {
  Random random(new_seed());
  for (const Arithmetic& a : all_arithmetic()) {
    for (const std::size_t count :
         {std::size_t{0}, 511 + below(random, 3), 1023 + below(random, 3), 4500 + below(random, 99)}) {
      check_fold(random, a, 2 + below(random, 4), count);
      if (HasFailure()) return;
    }
  }
}

TEST(Fold, ManyOperands) {
  Random random(new_seed());
  for (const std::size_t operands : {64U, 100U, 512U, 1000U}) {
    for (const Order order : {Order::tree, Order::linear}) {
      check_fold(random, {DataType::bfloat16, Op::sum, order, Accumulate::wide, 1, 0}, operands, 33);
      check_fold(random, {DataType::float32, Op::avg, order, Accumulate::wide, 1, 0}, operands, 33);
    }
  }
}

TEST(Fold, OneRankIsACopyOfTheBits) {
  const std::uint32_t nan = 0xffc12345;
  for (const Op op : {Op::sum, Op::prod, Op::min, Op::max, Op::avg}) {
    const Arithmetic a{DataType::float32, op, Order::tree, Accumulate::wide, 1, 0};
    std::uint32_t out = 0;
    fold(a, std::vector<Operand>{{&nan, Form::raw}}, &out, Form::final, 1);
    EXPECT_EQ(out, nan) << name(op);
  }
  const Arithmetic a{DataType::float32, Op::premulsum, Order::tree, Accumulate::wide, 1, 0x3f800000};
  std::uint32_t out = 0;
  fold(a, std::vector<Operand>{{&nan, Form::raw}}, &out, Form::final, 1);
  EXPECT_EQ(out, 0x7fffffffU);  // scaled: one NaN
}

}  // namespace
}  // namespace detccl::device::host
