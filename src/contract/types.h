// SPDX-License-Identifier: Apache-2.0
// Element types and reduction operations, numbered as NCCL numbers them (nccl.h: ncclDataType_t,
// ncclRedOp_t), so that a value crosses the C API by a cast after a range check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace detccl::contract {

enum class DataType : std::uint8_t {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8e4m3 = 10,
  float8e5m2 = 11,
};
inline constexpr int kDataTypes = 12;

enum class Op : std::uint8_t { sum = 0, prod = 1, max = 2, min = 3, avg = 4, premulsum = 5 };
inline constexpr int kOps = 6;

constexpr bool is_integer(DataType t) {
  return static_cast<int>(t) <= static_cast<int>(DataType::uint64);
}

/// Bytes of one element.
constexpr std::size_t size_of(DataType t) {
  switch (t) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::float8e4m3:
    case DataType::float8e5m2:
      return 1;
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
    case DataType::int32:
    case DataType::uint32:
    case DataType::float32:
      return 4;
    case DataType::int64:
    case DataType::uint64:
    case DataType::float64:
      return 8;
  }
  return 0;
}

/// Names as in the test vectors: "int8" … "float8e5m2"; "sum" … "premulsum".
std::string_view name(DataType t);
std::string_view name(Op op);
std::optional<DataType> parse_data_type(std::string_view text);
std::optional<Op> parse_op(std::string_view text);

}  // namespace detccl::contract
