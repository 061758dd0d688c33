// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>
#include <cstring>

namespace detccl::perf {
namespace {

using contract::DataType;

/// The output function of SplitMix64.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Layout {
  unsigned mantissa = 0, bias = 0;
};

Layout layout(DataType type) {
  switch (type) {
    case DataType::float16:
      return {10, 15};
    case DataType::float32:
      return {23, 127};
    case DataType::float64:
      return {52, 1023};
    case DataType::bfloat16:
      return {7, 127};
    case DataType::float8e4m3:
      return {3, 7};
    case DataType::float8e5m2:
      return {2, 15};
    default:
      return {};
  }
}

template <typename T>
void fill_as(const Values& values, std::uint32_t rank, std::span<std::byte> buffer, std::uint64_t first) {
  for (std::uint64_t i = 0; i < buffer.size() / sizeof(T); ++i) {
    const T bits = static_cast<T>(values.bits(rank, first + i));
    std::memcpy(buffer.data() + i * sizeof(T), &bits, sizeof(T));
  }
}

}  // namespace

Values::Values(DataType type, contract::Op op, std::uint64_t seed) : type_(type), seed_(mix(seed + 1)) {
  if (contract::is_integer(type)) return;
  mantissa_ = layout(type).mantissa;
  bias_ = layout(type).bias;
  spread_ = std::min(op == contract::Op::prod ? 4u : 16u, bias_ - 1);
}

std::uint64_t Values::bits(std::uint32_t rank, std::uint64_t element) const {
  const std::uint64_t random = mix(seed_ ^ mix(element * 0x9e3779b97f4a7c15u + rank));
  if (contract::is_integer(type_)) return random & (~std::uint64_t{0} >> (64 - 8 * contract::size_of(type_)));
  const std::uint64_t sign = random >> 63;
  const std::uint64_t exponent = bias_ - spread_ / 2 + ((random >> 56) & 0x7f) % spread_;
  const std::uint64_t fraction = random & ((std::uint64_t{1} << mantissa_) - 1);
  const std::uint64_t sign_bit = 8 * contract::size_of(type_) - 1;
  return (sign << sign_bit) | (exponent << mantissa_) | fraction;
}

void Values::fill(std::uint32_t rank, std::span<std::byte> buffer, std::uint64_t first) const {
  switch (contract::size_of(type_)) {
    case 1:
      return fill_as<std::uint8_t>(*this, rank, buffer, first);
    case 2:
      return fill_as<std::uint16_t>(*this, rank, buffer, first);
    case 4:
      return fill_as<std::uint32_t>(*this, rank, buffer, first);
    default:
      return fill_as<std::uint64_t>(*this, rank, buffer, first);
  }
}

void store(DataType type, std::span<std::byte> buffer, std::uint64_t element, std::uint64_t bits) {
  const std::size_t size = contract::size_of(type);
  std::memcpy(buffer.data() + element * size, &bits, size);  // little endian
}

std::uint64_t digest(std::span<const std::byte> buffer, std::uint64_t offset) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < buffer.size(); at += sizeof(std::uint64_t)) {
    const std::size_t bytes = std::min(sizeof(std::uint64_t), buffer.size() - at);
    std::uint64_t word = 0;
    std::memcpy(&word, buffer.data() + at, bytes);
    sum += mix(word ^ mix(offset + at + 1));
  }
  return sum;
}

}  // namespace detccl::perf
