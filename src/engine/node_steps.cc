// SPDX-License-Identifier: Apache-2.0
#include "engine/node_steps.h"

namespace detccl::engine {
namespace {

using contract::Op;
using plan::Collective;

/// Parts of a message begin at so many bytes from each other, or a multiple.
constexpr std::size_t kUnit = 16;

}  // namespace

std::string NodeWay::name() const {
  return "hier(peer," + plan::name(between) + ")/" + std::to_string(size);
}

bool NodeWay::takes(const Reduction& call) const {
  if (call.collective != Collective::all_reduce || call.schedule || call.count == 0) return false;
  if (contract.order != contract::Order::tree || call.op == Op::premulsum) return false;
  // One of the values, and rounding does not change which.
  if (call.op == Op::min || call.op == Op::max) return true;
  return takes_sums_of(call.type);
}

/// A node's result has the payload's type. That is what it has anyway, or what the contract wants of a block.
bool NodeWay::takes_sums_of(contract::DataType type) const {
  return contract::accumulation_type(type, contract.accumulate) == type || contract.block == size;
}

contract::Contract NodeWay::contract_of_steps() const {
  return {contract.order, contract.accumulate, 0};
}

NodeSteps NodeWay::steps(const Reduction& call, std::uint32_t rank, std::size_t whole_bytes) const {
  const std::size_t element = contract::size_of(call.type);
  const std::uint64_t unit = kUnit / element;
  const std::uint64_t part = call.count * element <= whole_bytes ? 0 : call.count / size / unit * unit;
  const std::uint64_t rest = call.count - size * part;
  const auto* const input = static_cast<const std::byte*>(call.send);
  auto* const output = static_cast<std::byte*>(call.receive);

  NodeSteps steps;
  const auto reduce = [&](Collective collective, std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    if (count == 0) return;
    Reduction first = call;
    first.collective = collective;
    first.op = call.op == Op::avg ? Op::sum : call.op;
    first.send = input + from * element;
    first.receive = output + to * element;
    first.count = count;
    first.root = 0;
    steps.within.push_back(first);
    Reduction second = call;
    second.send = second.receive = first.receive;
    second.count = count;
    second.root = 0;
    second.divisor = ranks;
    steps.between.push_back(second);
  };
  reduce(Collective::reduce_scatter, 0, rank % size * part, part);
  reduce(Collective::all_reduce, size * part, size * part, rest);
  steps.gathered = output;
  steps.part_bytes = part * element;
  return steps;
}

}  // namespace detccl::engine
