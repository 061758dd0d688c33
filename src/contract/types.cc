// SPDX-License-Identifier: Apache-2.0
#include "contract/types.h"

#include <array>

namespace detccl::contract {
namespace {

constexpr std::array<std::string_view, kDataTypes> kTypeNames = {
    "int8",    "uint8",   "int32",   "uint32",   "int64",      "uint64",
    "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
constexpr std::array<std::string_view, kOps> kOpNames = {"sum", "prod", "max", "min", "avg", "premulsum"};

template <class Enum, std::size_t kCount>
std::optional<Enum> find(const std::array<std::string_view, kCount>& names, std::string_view text) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(DataType t) {
  return kTypeNames.at(static_cast<std::size_t>(t));
}

std::string_view name(Op op) {
  return kOpNames.at(static_cast<std::size_t>(op));
}

std::optional<DataType> parse_data_type(std::string_view text) {
  return find<DataType>(kTypeNames, text);
}

std::optional<Op> parse_op(std::string_view text) {
  return find<Op>(kOpNames, text);
}

}  // namespace detccl::contract
