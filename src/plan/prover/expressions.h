// SPDX-License-Identifier: Apache-2.0
// What one element can hold: expressions over the ranks' values, hash-consed, so that two are the same
// computation exactly if their numbers are equal.
#pragma once

#include <cstdint>
#include <span>

#include "contract/contract.h"
#include "plan/prover/interner.h"

namespace detccl::plan::prover {

using Expression = std::uint32_t;

class Expressions {
 public:
  explicit Expressions(std::uint32_t ranks) : ranks_(ranks) {}

  /// Rank `rank`'s own value, scaled where the operation does that.
  Expression leaf(std::uint32_t rank) const { return rank; }
  /// a (+) b in the accumulation type.
  Expression combine(Expression a, Expression b) { return ranks_ + inner_({a, b}); }
  /// a rounded to the payload type.
  Expression rounded(Expression a) { return combine(a, kRounding); }
  /// What a fold of these operands computes: values in `order`. `operands` must not be empty.
  Expression fold(contract::Order order, std::span<const Expression> operands);

  /// What the contract wants of every element, before the final division and rounding: written down from
  /// the definition of the contract, not from any schedule.
  Expression required(const contract::Contract& contract);

 private:
  struct Inner {
    Expression left, right;
    friend bool operator==(const Inner&, const Inner&) = default;
    friend std::size_t hash_of(const Inner& i) { return (Hash() << i.left << i.right).value(); }
  };
  /// No expression: the right operand of a rounding.
  static constexpr Expression kRounding = 0xffffffffu;

  std::uint32_t ranks_;
  Interner<Inner> inner_;
};

}  // namespace detccl::plan::prover
