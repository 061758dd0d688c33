// SPDX-License-Identifier: Apache-2.0
#include "engine/scaled_sum.h"

namespace detccl::engine {

bool can_scale(const contract::Contract& contract, contract::DataType type) {
  return contract.block == 0 || contract::accumulation_type(type, contract.accumulate) == type;
}

ScaledSum::ScaledSum(const contract::Contract& contract, const Reduction& call, std::uint32_t rank,
                     std::uint32_t ranks, std::uint64_t first, std::uint64_t count)
    : call_(call),
      product_type_(contract::accumulation_type(call.type, contract.accumulate)),
      payload_size_(contract::size_of(call.type)),
      product_size_(contract::size_of(product_type_)),
      rank_(rank),
      shards_(call.collective == plan::Collective::reduce_scatter ? ranks : 1),
      first_(first),
      count_(count) {
}

const std::byte* ScaledSum::input(std::uint32_t shard) const {
  return static_cast<const std::byte*>(call_.send) + (shard * call_.count + first_) * payload_size_;
}

std::byte* ScaledSum::product(std::byte* products, std::uint32_t shard) const {
  return products + shard * count_ * product_size_;
}

Reduction ScaledSum::sum(std::byte* products) const {
  Reduction sum = call_;
  sum.type = product_type_;
  sum.op = contract::Op::sum;
  sum.scalar = 0;
  sum.scalar_memory = nullptr;
  sum.send = products;
  sum.receive = result(products);
  sum.count = count_;
  return sum;
}

bool ScaledSum::has_result() const {
  return call_.collective != plan::Collective::reduce || rank_ == call_.root;
}

std::byte* ScaledSum::result(std::byte* products) const {
  return product(products, shards_ == 1 ? 0 : rank_);
}

std::byte* ScaledSum::output() const {
  return static_cast<std::byte*>(call_.receive) + first_ * payload_size_;
}

}  // namespace detccl::engine
