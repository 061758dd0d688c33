// SPDX-License-Identifier: Apache-2.0
#include "random_values.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "contract/element.h"

namespace detccl::device::host {
namespace {

using contract::DataType;

constexpr std::byte kGuardByte{0xa5};

/// Bits of `x` in a floating-point type.
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
    default:
      return contract::bits_of(x);
  }
}

}  // namespace

std::uint64_t new_seed() {
  const char* const chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  return seed;
}

std::size_t below(Random& random, std::size_t end) {
  return random() % end;
}

std::uint64_t random_element(Random& random, DataType type) {
  const std::uint64_t bits = random();
  const std::size_t width = 8 * contract::size_of(type);
  if (contract::is_integer(type)) return bits;
  const std::size_t kind = below(random, 32);
  if (kind == 0) return bits;  // anything: NaN, infinity, huge, tiny
  const std::uint64_t sign = (bits >> 63) << (width - 1);
  if (kind < 3) return sign | (bits & 3);  // zeros and the least subnormals
  if (kind == 3) {                         // around the largest exponents
    return sign |
           ((std::uint64_t{1} << (width - 1)) - 1 - (bits & 0x3ff) % (std::uint64_t{1} << (width - 2)));
  }
  const double mantissa = static_cast<double>(static_cast<std::int64_t>(bits) >> 51);  // 13 bits and sign
  if (kind < 18) return encoded(type, mantissa / 512);  // sums cancel, ties happen
  return encoded(type, std::ldexp(mantissa / 977, static_cast<int>(below(random, 25)) - 12));
}

std::vector<Isa> isas() {
  std::vector<Isa> all = {Isa::baseline, Isa::avx2, Isa::avx512};
  std::erase_if(all, [](Isa isa) { return !has(isa); });
  return all;
}

Bytes::Bytes(Random& random, std::size_t size)
    : size_(size), shift_(below(random, 9)), storage_(size + 2 * kGuard + shift_, kGuardByte) {
}

Bytes::Bytes(Random& random, DataType type, std::size_t count)
    : Bytes(random, count * contract::size_of(type)) {
  const std::size_t element = contract::size_of(type);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_element(random, type);
    std::memcpy(data() + i * element, &bits, element);
  }
}

bool Bytes::guards_intact() const {
  const auto is_guard = [](std::byte b) { return b == kGuardByte; };
  return std::all_of(storage_.data(), data(), is_guard) &&
         std::all_of(data() + size_, storage_.data() + storage_.size(), is_guard);
}

bool Bytes::same(const Bytes& other) const {
  return size_ == other.size_ && (size_ == 0 || std::memcmp(data(), other.data(), size_) == 0);
}

}  // namespace detccl::device::host
