// SPDX-License-Identifier: Apache-2.0
// Which reductions have the same bits whatever the order.
#pragma once

#include <cstdint>

#include "contract/types.h"

namespace detccl::contract {

/// Integer sums and products wrap, minima and maxima pick one of the values (and one bit pattern of zeros and
/// NaNs), one rank's value is copied, and a sum of two rounds once; but GPUs add doubles with the bits of the
/// first NaN, and the contract has one pattern for all. Averages and PreMulSums of several ranks
/// are never counted among them, since others define them differently, nor is PreMulSum over one rank.
constexpr bool order_free(DataType type, Op op, std::uint32_t ranks) {
  if (op == Op::premulsum) return false;
  if (ranks == 1) return true;
  if (op == Op::avg) return false;
  if (is_integer(type) || op == Op::min || op == Op::max) return true;
  return ranks == 2 && op == Op::sum && type != DataType::float64;
}

}  // namespace detccl::contract
