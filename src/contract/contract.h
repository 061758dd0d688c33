// SPDX-License-Identifier: Apache-2.0
// The contract: in which order and precision the ranks' values of one element combine.
// It decides the bits, and nothing else does (docs/contract.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "contract/types.h"

namespace detccl::contract {

enum class Order : std::uint8_t {
  tree,    ///< T(lo,hi) = T(lo,m) (+) T(m,hi), m = lo + the largest power of two below hi-lo
  linear,  ///< ((x_0 (+) x_1) (+) x_2) …
};

enum class Accumulate : std::uint8_t {
  wide,    ///< fp8, fp16, bf16 in fp32; one rounding to the payload type, at the end
  native,  ///< every (+) rounds to the payload type
};

struct Contract {
  Order order = Order::tree;
  Accumulate accumulate = Accumulate::wide;
  /// Fold wide inside aligned blocks of this many ranks, round, fold the results. 0: no blocks.
  /// A power of two; only with `wide`.
  std::uint32_t block = 0;

  friend bool operator==(const Contract&, const Contract&) = default;
};

/// "tree", "linear", "tree:native", "tree:wide/8", "linear/4" …; nothing if it is none of these.
std::optional<Contract> parse_contract(std::string_view text);

/// What parse_contract accepts, for error messages.
inline constexpr std::string_view kContractSyntax =
    "tree|linear, then :wide|:native, then /B with B a power of two from 2 (wide only); e.g. tree, "
    "linear:native, tree:wide/8";

/// The usual text that parses to `c`: "tree", "linear:native", "tree:wide/8".
std::string to_string(const Contract& c);

/// The type in which values of type `t` are added and multiplied: fp32 for wide fp8, fp16 and bf16; else `t`.
constexpr DataType accumulation_type(DataType t, Accumulate a) {
  const bool narrow = t == DataType::float16 || t == DataType::bfloat16 || t == DataType::float8e4m3 ||
                      t == DataType::float8e5m2;
  return narrow && a == Accumulate::wide ? DataType::float32 : t;
}

/// Where a node T(lo,hi) of the canonical tree splits, as an offset from lo: the largest power of two
/// below `size`. `size` at least 2.
constexpr std::uint32_t tree_split(std::uint32_t size) {
  std::uint32_t m = 1;
  while (m < size - m)
    m *= 2;
  return m;
}

}  // namespace detccl::contract
