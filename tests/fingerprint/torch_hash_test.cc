// SPDX-License-Identifier: Apache-2.0
// Widening against the processor's own conversions, for every pattern of the short types; the xor itself.
#include "fingerprint/torch_hash.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "contract/float_formats.h"

namespace detccl::fingerprint {
namespace {

std::uint64_t widened(float x) {
  const double wide = x;
  std::uint64_t bits;
  std::memcpy(&bits, &wide, sizeof(bits));
  return bits;
}

template <class Format>
void check_all_patterns(TorchType type) {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float value = contract::decode<Format>(bits);
    const std::uint64_t hash = torch_hash(type, &bits, 1);
    if (std::isnan(value)) {  // which NaN is the vectors' business
      EXPECT_EQ(hash >> 51 & 0xfff, 0xfffU) << pattern;
      EXPECT_EQ(hash >> 63, pattern >> 15) << pattern;
    } else {
      EXPECT_EQ(hash, widened(value)) << pattern;
    }
  }
}

TEST(TorchHash, EveryShortFloat) {
  check_all_patterns<contract::Float16>(TorchType::float16);
  check_all_patterns<contract::Bfloat16>(TorchType::bfloat16);
}

TEST(TorchHash, Floats) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    if (i % 4 == 0) bits &= 0x807fffff;  // subnormals
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isnan(value)) {
      ASSERT_EQ(torch_hash(TorchType::float32, &bits, 1), widened(value)) << bits;
    }
  }
}

TEST(TorchHash, IsTheXorOfTheElements) {
  std::mt19937_64 random(2);
  for (int type = 0; type < kTorchTypes; ++type) {
    const auto t = static_cast<TorchType>(type);
    std::vector<std::uint8_t> data(1 + 99 * size_of(t));
    for (auto& byte : data)
      byte = static_cast<std::uint8_t>(random());
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < 99; ++i)
      expected ^= torch_hash(t, data.data() + 1 + i * size_of(t), 1);
    EXPECT_EQ(torch_hash(t, data.data() + 1, 99), expected) << name(t);
    EXPECT_EQ(torch_hash(t, data.data(), 0), 0U);
  }
}

TEST(TorchHash, TypesAndNames) {
  for (int type = 0; type < kTorchTypes; ++type) {
    const auto t = static_cast<TorchType>(type);
    EXPECT_EQ(parse_torch_type(name(t)), t);
  }
  EXPECT_FALSE(parse_torch_type("uint64"));
  EXPECT_EQ(torch_type(contract::DataType::bfloat16), TorchType::bfloat16);
  EXPECT_EQ(torch_type(contract::DataType::int8), TorchType::int8);
  EXPECT_FALSE(torch_type(contract::DataType::uint32));
  EXPECT_FALSE(torch_type(contract::DataType::float8e4m3));
}

}  // namespace
}  // namespace detccl::fingerprint
