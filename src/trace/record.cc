// SPDX-License-Identifier: Apache-2.0
#include "trace/record.h"

#include <array>
#include <cstddef>

#include "contract/types.h"

namespace detccl::trace {
namespace {

constexpr std::array<std::string_view, kKinds> kNames = {
    "all_reduce", "reduce_scatter", "reduce",  "all_gather", "broadcast",
    "all_to_all", "gather",         "scatter", "send",       "recv"};

}  // namespace

std::string kind_name(std::uint8_t kind) {
  return kind < kKinds ? std::string(kNames[kind]) : "kind_" + std::to_string(kind);
}

int parse_kind(std::string_view name) {
  int kind = 0;
  while (kind < kKinds && kNames[static_cast<std::size_t>(kind)] != name) {
    ++kind;
  }
  return kind;
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.high, digest.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      text += kDigits[(half >> shift) & 15];
    }
  }
  return text;
}

std::string type_name(std::uint8_t type) {
  if (type == kNone) return "none";
  if (type >= contract::kDataTypes) return "type_" + std::to_string(type);
  return std::string(contract::name(static_cast<contract::DataType>(type)));
}

std::string op_name(std::uint8_t op) {
  if (op == kNone) return "none";
  if (op >= contract::kOps) return "op_" + std::to_string(op);
  return std::string(contract::name(static_cast<contract::Op>(op)));
}

}  // namespace detccl::trace
