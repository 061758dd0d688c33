// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "contract/element.h"
#include "contract/reference.h"
#include "device/host/fold.h"

namespace promises {
namespace {

namespace contract = detccl::contract;

constexpr std::size_t kTable = 4096;
constexpr std::size_t kFewElements = 2048;

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t encoded(DataType type, double x) {
  const auto f = static_cast<float>(x);
  switch (type) {
    case DataType::float16:
      return contract::encode<contract::Float16>(f);
    case DataType::bfloat16:
      return contract::encode<contract::Bfloat16>(f);
    case DataType::float8e4m3:
      return contract::encode<contract::Float8E4M3>(f);
    case DataType::float8e5m2:
      return contract::encode<contract::Float8E5M2>(f);
    case DataType::float32:
      return contract::bits_of(f);
    case DataType::float64:
      return contract::bits_of(x);
    default:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  }
}

namespace {

/// One value of the table that elements are drawn from.
std::uint64_t table_value(DataType type, std::size_t i) {
  const std::uint64_t random = mix(i + 1);
  if (contract::is_integer(type)) return random;
  const std::uint64_t sign = std::uint64_t{1} << (8 * contract::size_of(type) - 1);
  if (i < 4) return i % 2 == 0 ? encoded(type, INFINITY) : encoded(type, -INFINITY);
  if (i < 8) return encoded(type, NAN) | (i % 2 == 0 ? 0 : sign);
  if (i < 40) return i % 2 == 0 ? 0 : sign;                   // zeros
  if (i < 72) return (random & 3) | (i % 2 == 0 ? 0 : sign);  // the least subnormals
  const double mantissa = static_cast<double>(static_cast<std::int64_t>(random) >> 40);  // 24 bits
  if (i < 2400) return encoded(type, mantissa / 8388608);                                // sums cancel
  const int exponent = static_cast<int>(random & 31) - 16;
  return encoded(type, std::ldexp(mantissa / 8388608, exponent));
}

const std::array<std::uint64_t, kTable>& table(DataType type) {
  static std::array<std::array<std::uint64_t, kTable>, contract::kDataTypes> tables;
  static std::array<bool, contract::kDataTypes> made{};
  const auto index = static_cast<std::size_t>(type);
  if (!made[index]) {
    for (std::size_t i = 0; i < kTable; ++i)
      tables[index][i] = table_value(type, i);
    made[index] = true;
  }
  return tables[index];
}

template <class Word>
void draw(const Reduction& r, int rank, std::size_t first, std::size_t count, std::uint8_t* out) {
  const auto& values = table(r.type);
  const std::uint64_t stream = mix(r.seed * 1024 + static_cast<std::uint64_t>(rank));
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Word>(values[mix(stream + first + i) % kTable]);
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

std::uint64_t Reduction::scalar() const {
  return encoded(type, contract::is_integer(type) ? 3 : 0.40625);
}

Bytes input(const Reduction& r, int rank, std::size_t first, std::size_t count) {
  Bytes out(r.size(count));
  switch (contract::size_of(r.type)) {
    case 1:
      draw<std::uint8_t>(r, rank, first, count, out.data());
      break;
    case 2:
      draw<std::uint16_t>(r, rank, first, count, out.data());
      break;
    case 4:
      draw<std::uint32_t>(r, rank, first, count, out.data());
      break;
    default:
      draw<std::uint64_t>(r, rank, first, count, out.data());
  }
  return out;
}

Bytes expected(const Contract& contract, const Reduction& r, int ranks, std::size_t first,
               std::size_t count) {
  std::vector<int> everyone(static_cast<std::size_t>(ranks));
  std::iota(everyone.begin(), everyone.end(), 0);
  return expected(contract, r, everyone, first, count);
}

Bytes expected(const Contract& contract, const Reduction& r, const std::vector<int>& members,
               std::size_t first, std::size_t count) {
  std::vector<Bytes> inputs;
  for (const int rank : members)
    inputs.push_back(input(r, rank, first, count));
  Bytes out(r.size(count));
  if (count <= kFewElements || contract.block != 0) {  // the host's fold knows no blocks
    std::vector<const void*> pointers;
    for (const Bytes& bytes : inputs)
      pointers.push_back(bytes.data());
    contract::reduce(contract, r.type, r.op, pointers, out.data(), count, r.scalar());
    return out;
  }
  const detccl::device::host::Arithmetic arithmetic{
      r.type,    r.op, contract.order, contract.accumulate, static_cast<std::uint32_t>(members.size()),
      r.scalar()};
  std::vector<detccl::device::host::Operand> operands;
  for (const Bytes& bytes : inputs)
    operands.push_back({bytes.data(), detccl::plan::Form::raw});
  detccl::device::host::fold(arithmetic, operands, out.data(), detccl::plan::Form::final, count);
  return out;
}

std::size_t differing(const Reduction& r, const Bytes& a, const Bytes& b) {
  const std::size_t element = r.size(1);
  std::size_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += element)
    count += std::memcmp(a.data() + at, b.data() + at, element) != 0;
  return count;
}

}  // namespace promises
