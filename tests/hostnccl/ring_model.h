// SPDX-License-Identifier: Apache-2.0
// What the library's own reductions must give, element by element: a plain model of a ring that rounds at
// every hop, made of two-operand steps of the contract's reference evaluator. Knows nothing of programs,
// slices or transports.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "contract/types.h"

namespace detccl::test {

/// One rank's elements as bit patterns.
using Bits = std::vector<std::uint64_t>;

struct RingModel {
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  std::uint64_t scalar = 0;         ///< premulsum's factor
  std::vector<std::uint32_t> ring;  ///< ring[p] is the rank at position p

  /// Element `e` of all ranks, combined from position `start` on, around the whole ring.
  std::uint64_t around_from(std::size_t start, const std::vector<Bits>& inputs, std::size_t e) const;

  Bits all_reduce(const std::vector<Bits>& inputs) const;
  /// inputs: `ranks` shards each; the shard of `rank`.
  Bits reduce_scatter(const std::vector<Bits>& inputs, std::uint32_t rank) const;
  Bits reduce(const std::vector<Bits>& inputs, std::uint32_t root) const;
};

/// Values between 1/2 and 2 of either sign for floating-point types, any bits for integers.
Bits random_values(contract::DataType type, std::size_t count, std::mt19937_64& random);

std::vector<std::byte> to_bytes(contract::DataType type, const Bits& bits);
Bits to_bits(contract::DataType type, const std::vector<std::byte>& bytes);

}  // namespace detccl::test
