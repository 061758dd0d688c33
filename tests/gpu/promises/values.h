// SPDX-License-Identifier: Apache-2.0
// What the ranks contribute, and what the contract says comes out. Element i of a data set is a function of
// the data set's seed, the rank and i alone, so that a piece of a message has the values of the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "contract/contract.h"

namespace promises {

using detccl::contract::Contract;
using detccl::contract::DataType;
using detccl::contract::Op;
using Bytes = std::vector<std::uint8_t>;

/// One data set and what is done to it.
struct Reduction {
  DataType type = DataType::float32;
  Op op = Op::sum;
  std::uint64_t seed = 1;

  std::size_t size(std::size_t count) const { return count * detccl::contract::size_of(type); }
  std::uint64_t scalar() const;  ///< PreMulSum's factor: its bits in `type`
};

/// The bits of `x`, rounded to `type`.
std::uint64_t encoded(DataType type, double x);

/// Elements first … first+count-1 of `rank`: cancelling and widely spread values, with NaN, infinities, -0
/// and subnormals among them.
Bytes input(const Reduction& r, int rank, std::size_t first, std::size_t count);

/// Those elements reduced over `ranks` ranks: by the contract's reference evaluator where they are few, else
/// by the host's fold.
Bytes expected(const Contract& contract, const Reduction& r, int ranks, std::size_t first, std::size_t count);
/// Over `members` alone, in their communicator's order.
Bytes expected(const Contract& contract, const Reduction& r, const std::vector<int>& members,
               std::size_t first, std::size_t count);

/// Elements that are not the same.
std::size_t differing(const Reduction& r, const Bytes& a, const Bytes& b);

}  // namespace promises
