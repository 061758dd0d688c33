// SPDX-License-Identifier: Apache-2.0
// The value of torch.hash_tensor(x, mode=0) for an array in host memory: the xor of all elements, each
// widened to 64 bits (integers by value, floating-point numbers to fp64's bit pattern). Blind to order, and
// to a value that comes twice; it is here so that traces line up with other tools. Pure, never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "contract/types.h"

namespace detccl::fingerprint {

/// The types that torch.hash_tensor takes (torch 2.11 on the CPU; no unsigned ones but uint8, no fp8).
enum class TorchType : std::uint8_t {
  boolean,
  uint8,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,
  float32,
  float64
};
inline constexpr int kTorchTypes = 10;

/// torch's names without "torch.": "bool", "uint8" …
std::string_view name(TorchType type);
std::optional<TorchType> parse_torch_type(std::string_view text);
std::size_t size_of(TorchType type);

/// Torch's type for a payload type, if its hash_tensor takes one.
std::optional<TorchType> torch_type(contract::DataType type);

/// Of `count` elements, at any alignment. 0 for none, where torch refuses. NaNs keep their payload, and
/// signalling ones become quiet, as an x86 processor converts them.
std::uint64_t torch_hash(TorchType type, const void* data, std::size_t count);

}  // namespace detccl::fingerprint
