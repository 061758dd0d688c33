// SPDX-License-Identifier: Apache-2.0
#include "contract/reference.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "contract/element.h"
#include "contract/float_environment.h"

namespace detccl::contract {
namespace {

template <class Element>
typename Element::Value combine_two(Op op, typename Element::Value a, typename Element::Value b) {
  switch (op) {
    case Op::prod:
      return Element::multiply(a, b);
    case Op::min:
      return Element::lesser(a, b);
    case Op::max:
      return Element::greater(a, b);
    case Op::sum:
    case Op::avg:
    case Op::premulsum:
      break;
  }
  return Element::add(a, b);
}

template <class Element>
typename Element::Value fold(Order order, Op op, std::span<const typename Element::Value> x) {
  if (x.size() == 1) return x[0];
  if (order == Order::linear) {
    auto result = x[0];
    for (const auto value : x.subspan(1))
      result = combine_two<Element>(op, result, value);
    return result;
  }
  const std::size_t m = tree_split(static_cast<std::uint32_t>(x.size()));
  return combine_two<Element>(op, fold<Element>(order, op, x.first(m)),
                              fold<Element>(order, op, x.subspan(m)));
}

/// noinline: the arithmetic must stay between the caller's changes of the floating-point environment.
template <class Element>
[[gnu::noinline]] std::uint64_t reduce_as(const Contract& contract, Op op,
                                          std::span<const std::uint64_t> values, std::uint64_t scalar) {
  using Bits = typename Element::Bits;
  if (values.size() == 1 && op != Op::premulsum) return static_cast<Bits>(values[0]);

  std::vector<typename Element::Value> x;
  x.reserve(values.size());
  for (const std::uint64_t value : values) {
    x.push_back(Element::load(static_cast<Bits>(value)));
    if (op == Op::premulsum) x.back() = Element::multiply(x.back(), Element::load(static_cast<Bits>(scalar)));
  }
  if (contract.block != 0) {
    std::vector<typename Element::Value> blocks;
    for (std::size_t i = 0; i < x.size(); i += contract.block) {
      const std::size_t size = std::min<std::size_t>(contract.block, x.size() - i);
      const auto sum = fold<Element>(contract.order, op, std::span(x).subspan(i, size));
      blocks.push_back(Element::load(Element::store(sum)));
    }
    x = std::move(blocks);
  }
  const auto result = fold<Element>(contract.order, op, x);
  if (op == Op::avg) return Element::average(result, static_cast<std::uint32_t>(values.size()));
  return Element::store(result);
}

}  // namespace

std::uint64_t reduce_element(const Contract& contract, DataType type, Op op,
                             std::span<const std::uint64_t> values, std::uint64_t scalar) {
  const FloatEnvironment environment;
  return visit_element(type, contract.accumulate, [&]<class Element>(Element) -> std::uint64_t {
    return reduce_as<Element>(contract, op, values, scalar);
  });
}

void reduce(const Contract& contract, DataType type, Op op, std::span<const void* const> inputs, void* out,
            std::uint64_t count, std::uint64_t scalar) {
  const std::size_t size = size_of(type);
  std::vector<std::uint64_t> values(inputs.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      values[r] = 0;
      std::memcpy(&values[r], static_cast<const char*>(inputs[r]) + i * size, size);  // little-endian
    }
    const std::uint64_t result = reduce_element(contract, type, op, values, scalar);
    std::memcpy(static_cast<char*>(out) + i * size, &result, size);
  }
}

}  // namespace detccl::contract
