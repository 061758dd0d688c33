// SPDX-License-Identifier: Apache-2.0
#include "ring_model.h"

#include <algorithm>
#include <cstring>

#include "contract/element.h"
#include "contract/reference.h"

namespace detccl::test {
namespace {

using contract::DataType;
using contract::Op;

constexpr contract::Contract kHop{contract::Order::linear, contract::Accumulate::native, 0};
constexpr contract::Contract kWide{contract::Order::linear, contract::Accumulate::wide, 0};

std::uint64_t encoded(DataType type, double value) {
  return contract::visit_element(type, contract::Accumulate::wide, [value]<class Element>(Element) {
    return std::uint64_t{Element::store(static_cast<typename Element::Value>(value))};
  });
}

/// 1/n: the wide average of one 1 and n-1 zeros.
std::uint64_t reciprocal(DataType type, std::size_t n) {
  Bits values(n, 0);
  values[0] = encoded(type, 1.0);
  return contract::reduce_element(kWide, type, Op::avg, values);
}

std::uint64_t divided(DataType type, std::uint64_t bits, std::size_t n) {
  const auto unused = 64 - 8 * contract::size_of(type);
  if (type == DataType::uint8 || type == DataType::uint32 || type == DataType::uint64) return bits / n;
  const auto value = static_cast<std::int64_t>(bits << unused) >> unused;  // the sign extended
  const auto quotient = static_cast<std::uint64_t>(value / static_cast<std::int64_t>(n));
  return quotient << unused >> unused;
}

}  // namespace

std::uint64_t RingModel::around_from(std::size_t start, const std::vector<Bits>& inputs,
                                     std::size_t e) const {
  const std::size_t n = ring.size();
  const bool scaled = op == Op::premulsum || (op == Op::avg && !contract::is_integer(type));
  const std::uint64_t factor = op == Op::premulsum ? scalar : scaled ? reciprocal(type, n) : 0;
  const Op step = op == Op::premulsum || op == Op::avg ? Op::sum : op;
  const auto value_at = [&](std::size_t position) {
    const std::uint64_t x = inputs[ring[position % n]][e];
    const std::uint64_t one[] = {x};
    return scaled ? contract::reduce_element(kHop, type, Op::premulsum, one, factor) : x;
  };
  std::uint64_t sum = value_at(start);
  for (std::size_t hop = 1; hop < n; ++hop) {
    const std::uint64_t pair[] = {sum, value_at(start + hop)};
    sum = contract::reduce_element(kHop, type, step, pair);
  }
  return op == Op::avg && contract::is_integer(type) ? divided(type, sum, n) : sum;
}

Bits RingModel::all_reduce(const std::vector<Bits>& inputs) const {
  const std::size_t n = ring.size(), count = inputs[0].size(), chunk = (count + n - 1) / n;
  Bits result;
  for (std::size_t e = 0; e < count; ++e)
    result.push_back(around_from(e / chunk + 1, inputs, e));
  return result;
}

Bits RingModel::reduce_scatter(const std::vector<Bits>& inputs, std::uint32_t rank) const {
  const std::size_t count = inputs[0].size() / ring.size();
  const auto owner = static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  Bits result;
  for (std::size_t e = 0; e < count; ++e)
    result.push_back(around_from(owner + 1, inputs, rank * count + e));
  return result;
}

Bits RingModel::reduce(const std::vector<Bits>& inputs, std::uint32_t root) const {
  const auto last = static_cast<std::size_t>(std::find(ring.begin(), ring.end(), root) - ring.begin());
  Bits result;
  for (std::size_t e = 0; e < inputs[0].size(); ++e)
    result.push_back(around_from(last + 1, inputs, e));
  return result;
}

Bits random_values(DataType type, std::size_t count, std::mt19937_64& random) {
  const std::size_t size = contract::size_of(type);
  std::uniform_real_distribution<double> magnitude(0.5, 2.0);
  Bits bits(count);
  for (std::uint64_t& x : bits) {
    const std::uint64_t any = random();
    if (contract::is_integer(type)) {
      x = any >> (64 - 8 * size);
    } else {
      x = encoded(type, any % 2 == 0 ? magnitude(random) : -magnitude(random));
    }
  }
  return bits;
}

std::vector<std::byte> to_bytes(DataType type, const Bits& bits) {
  const std::size_t size = contract::size_of(type);
  std::vector<std::byte> bytes(bits.size() * size);
  for (std::size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bytes[i * size], &bits[i], size);
  return bytes;
}

Bits to_bits(DataType type, const std::vector<std::byte>& bytes) {
  const std::size_t size = contract::size_of(type);
  Bits bits(bytes.size() / size);
  for (std::size_t i = 0; i < bits.size(); ++i)
    std::memcpy(&bits[i], &bytes[i * size], size);
  return bits;
}

}  // namespace detccl::test
