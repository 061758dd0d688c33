// SPDX-License-Identifier: Apache-2.0
// One call of a collective or of send/recv, its arguments checked.
#pragma once

#include <cstdint>
#include <string>

#include "contract/types.h"

namespace detccl::hostnccl {

enum class Kind : std::uint8_t {
  all_reduce,
  reduce_scatter,
  reduce,
  all_gather,
  broadcast,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
};

constexpr bool is_point_to_point(Kind kind) {
  return kind == Kind::send || kind == Kind::receive;
}

const char* name(Kind kind);  ///< "AllReduce" …

struct Operation {
  Kind kind = Kind::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::uint64_t count = 0;  ///< elements, as NCCL counts them for this kind
  contract::DataType type = contract::DataType::float32;
  contract::Op op = contract::Op::sum;
  std::uint64_t scalar = 0;               ///< PreMulSum's factor, its bit pattern in `type` …
  const void* deferred_scalar = nullptr;  ///< … or where to read it when the operation starts
  std::uint32_t root = 0;                 ///< or the peer
};

/// "AllReduce of 1024 float32"
std::string describe(const Operation& operation);

}  // namespace detccl::hostnccl
