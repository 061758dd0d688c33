// SPDX-License-Identifier: Apache-2.0
// PreMulSum over several ranks. Each rank multiplies its own values, and the ranks' factors may differ: what
// is reduced are the products, in the accumulation type, as a plain sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/contract.h"
#include "engine/reduction.h"

namespace detccl::engine {

inline bool is_scaled_sum(const Reduction& call, std::uint32_t ranks) {
  return call.op == contract::Op::premulsum && ranks > 1;
}

/// Whether the products' sum has the contract's bits: where blocks round partial values to a payload type
/// that is narrower, it has not.
bool can_scale(const contract::Contract& contract, contract::DataType type);

/// Elements first … first + count - 1 of a PreMulSum (reduce_scatter: of each shard).
class ScaledSum {
 public:
  ScaledSum(const contract::Contract& contract, const Reduction& call, std::uint32_t rank,
            std::uint32_t ranks, std::uint64_t first, std::uint64_t count);

  std::size_t product_size() const { return product_size_; }
  /// Ranges of the input, each `count` elements, whose products stand one after the other.
  std::uint32_t shards() const { return shards_; }
  std::uint64_t products() const { return shards_ * count_; }
  const std::byte* input(std::uint32_t shard) const;
  std::byte* product(std::byte* products, std::uint32_t shard) const;

  /// The reduction of the products, in place.
  Reduction sum(std::byte* products) const;
  /// Whether this rank has a result, which then is to be rounded from result() to output().
  bool has_result() const;
  std::byte* result(std::byte* products) const;
  std::byte* output() const;

 private:
  Reduction call_;
  contract::DataType product_type_;
  std::size_t payload_size_, product_size_;
  std::uint32_t rank_, shards_;
  std::uint64_t first_, count_;
};

}  // namespace detccl::engine
