// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/cases.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "contract/reference.h"

namespace detccl::test {
namespace {

using contract::DataType;

DataType data_type(const Case& c) {
  return static_cast<DataType>(c.type);
}

/// A finite value of moderate size.
std::uint64_t ordinary_bits(DataType type, std::uint64_t random) {
  const float value =
      (static_cast<float>(random % 4001) - 2000.0f) / static_cast<float>(1u << (random >> 40) % 12);
  std::uint64_t bits = 0;
  switch (type) {
    case DataType::float16: {
      const __half h(value);
      std::memcpy(&bits, &h, sizeof h);
      return bits;
    }
    case DataType::bfloat16: {
      const __nv_bfloat16 b(value);
      std::memcpy(&bits, &b, sizeof b);
      return bits;
    }
    case DataType::float32:
      std::memcpy(&bits, &value, sizeof value);
      return bits;
    case DataType::float64: {
      const double d = static_cast<double>(value) * 1.0000001;
      std::memcpy(&bits, &d, sizeof d);
      return bits;
    }
    default:
      return random;  // fp8 and integers: any bit pattern will do
  }
}

std::uint64_t value_bits(DataType type, std::uint64_t random) {
  return random % 64 == 0 ? random >> 8 : ordinary_bits(type, random >> 8);
}

}  // namespace

std::size_t Case::element() const {
  return contract::size_of(static_cast<DataType>(type));
}

std::string Case::text() const {
  std::ostringstream out;
  out << contract::name(data_type(*this)) << " "
      << (premulsum ? "premulsum" : contract::name(static_cast<contract::Op>(op))) << " count " << count
      << " root " << root << " seed " << seed;
  return out.str();
}

Case random_case(Random& random, int ranks, std::size_t largest) {
  Case c;
  c.type = static_cast<ncclDataType_t>(random.below(contract::kDataTypes));
  c.op = static_cast<ncclRedOp_t>(random.below(contract::kOps));
  c.premulsum = c.op == ncclNumOps;
  c.scalar = value_bits(data_type(c), random.next());
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t limit = random.below(3) == 0 ? 8 : std::max<std::size_t>(1, largest / n);
  c.count = (1 + random.below(limit)) * n;
  c.root = static_cast<int>(random.below(n));
  c.seed = random.next();
  return c;
}

Bytes input_of(const Case& c, int rank) {
  Random random(c.seed + static_cast<std::uint64_t>(rank) * 0x5851f42d4c957f2du);
  Bytes bytes(c.count * c.element());
  for (std::size_t i = 0; i < c.count; ++i) {
    const std::uint64_t bits = value_bits(data_type(c), random.next());
    std::memcpy(bytes.data() + i * c.element(), &bits, c.element());
  }
  return bytes;
}

Bytes expected(const Case& c, const contract::Contract& contract, int ranks) {
  std::vector<Bytes> inputs;
  std::vector<const void*> pointers;
  for (int rank = 0; rank < ranks; ++rank)
    inputs.push_back(input_of(c, rank));
  for (const Bytes& input : inputs)
    pointers.push_back(input.data());
  Bytes result(c.count * c.element());
  const auto op = c.premulsum ? contract::Op::premulsum : static_cast<contract::Op>(c.op);
  contract::reduce(contract, data_type(c), op, pointers, result.data(), c.count, c.scalar);
  return result;
}

std::string difference(const Case& c, const Bytes& got, const Bytes& wanted) {
  if (got == wanted) return "";
  if (got.size() != wanted.size()) return "another length";
  const auto at =
      static_cast<std::size_t>(std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin());
  const std::size_t index = at / c.element();
  std::uint64_t is = 0, should = 0;
  std::memcpy(&is, got.data() + index * c.element(), c.element());
  std::memcpy(&should, wanted.data() + index * c.element(), c.element());
  std::ostringstream out;
  out << "element " << index << ": bits 0x" << std::hex << is << " instead of 0x" << should;
  return out.str();
}

}  // namespace detccl::test
