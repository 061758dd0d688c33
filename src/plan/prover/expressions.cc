// SPDX-License-Identifier: Apache-2.0
#include "plan/prover/expressions.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace detccl::plan::prover {

Expression Expressions::fold(contract::Order order, std::span<const Expression> operands) {
  if (operands.size() == 1) return operands[0];
  if (order == contract::Order::linear) {
    Expression sum = operands[0];
    for (const Expression next : operands.subspan(1))
      sum = combine(sum, next);
    return sum;
  }
  const std::size_t left = std::bit_floor(operands.size() - 1);  // largest power of two below the size
  return combine(fold(order, operands.first(left)), fold(order, operands.subspan(left)));
}

Expression Expressions::required(const contract::Contract& contract) {
  std::vector<Expression> values(ranks_);
  for (std::uint32_t r = 0; r < ranks_; ++r)
    values[r] = leaf(r);
  // One rank: a copy, or the scaled value rounded; rounding it twice changes nothing.
  if (ranks_ == 1) return values[0];
  if (contract.block != 0) {
    std::vector<Expression> blocks;
    for (std::span<const Expression> rest = values; !rest.empty();) {
      const std::size_t size = std::min<std::size_t>(contract.block, rest.size());
      blocks.push_back(rounded(fold(contract.order, rest.first(size))));
      rest = rest.subspan(size);
    }
    values = std::move(blocks);
  }
  return fold(contract.order, values);
}

}  // namespace detccl::plan::prover
