// SPDX-License-Identifier: Apache-2.0
#include "fingerprint/torch_hash.h"

#include <cstring>

#include "fingerprint/widen.h"

namespace detccl::fingerprint {
namespace {

template <class Bits, std::uint64_t (*kWiden)(Bits)>
std::uint64_t hash(const void* data, std::size_t count) {
  const auto* const from = static_cast<const char*>(data);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, from + i * sizeof(Bits), sizeof(Bits));
    all ^= kWiden(bits);
  }
  return all;
}

struct Row {
  std::string_view name;
  std::size_t size;
  std::uint64_t (*hash)(const void*, std::size_t);
};

constexpr Row kRows[kTorchTypes] = {
    {"bool", 1, hash<std::uint8_t, widen_bool>},
    {"uint8", 1, hash<std::uint8_t, widen_integer>},
    {"int8", 1, hash<std::int8_t, widen_integer>},
    {"int16", 2, hash<std::int16_t, widen_integer>},
    {"int32", 4, hash<std::int32_t, widen_integer>},
    {"int64", 8, hash<std::int64_t, widen_integer>},
    {"float16", 2, hash<std::uint16_t, widen_float<std::uint16_t, 5, 10>>},
    {"bfloat16", 2, hash<std::uint16_t, widen_float<std::uint16_t, 8, 7>>},
    {"float32", 4, hash<std::uint32_t, widen_float<std::uint32_t, 8, 23>>},
    {"float64", 8, hash<std::uint64_t, widen_integer>},
};

const Row& row(TorchType type) {
  return kRows[static_cast<int>(type)];
}

}  // namespace

std::string_view name(TorchType type) {
  return row(type).name;
}

std::optional<TorchType> parse_torch_type(std::string_view text) {
  for (int i = 0; i < kTorchTypes; ++i) {
    if (kRows[i].name == text) return static_cast<TorchType>(i);
  }
  return std::nullopt;
}

std::size_t size_of(TorchType type) {
  return row(type).size;
}

std::optional<TorchType> torch_type(contract::DataType type) {
  return parse_torch_type(contract::name(type));
}

std::uint64_t torch_hash(TorchType type, const void* data, std::size_t count) {
  return row(type).hash(data, count);
}

}  // namespace detccl::fingerprint
