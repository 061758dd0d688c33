// SPDX-License-Identifier: Apache-2.0
// Inputs that any rank can compute for every other one, made so that the order of additions shows in the
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "contract/types.h"

namespace detccl::perf {

/// Random values of one kind: integers of all bits; floats of either sign, random mantissa and an exponent
/// from a range of 2^16 (2^4 for prod, so that products stay finite), or what the type has of it.
class Values {
 public:
  Values(contract::DataType type, contract::Op op, std::uint64_t seed);

  /// The bit pattern of element `element` of rank `rank`'s input.
  std::uint64_t bits(std::uint32_t rank, std::uint64_t element) const;

  /// A rank's input from element `first` on.
  void fill(std::uint32_t rank, std::span<std::byte> buffer, std::uint64_t first = 0) const;

 private:
  contract::DataType type_;
  std::uint64_t seed_;
  unsigned mantissa_ = 0, bias_ = 0, spread_ = 0;  ///< floats: bits, exponent of 1.0, range of exponents
};

/// Sets element `element` of a buffer of type `type` to a bit pattern.
void store(contract::DataType type, std::span<std::byte> buffer, std::uint64_t element, std::uint64_t bits);

/// A mix of all bytes and their positions, to compare buffers of different processes. `buffer` begins at byte
/// `offset` of the whole, a multiple of 8; the digest of a whole is the sum of its pieces' digests.
std::uint64_t digest(std::span<const std::byte> buffer, std::uint64_t offset);

}  // namespace detccl::perf
