// SPDX-License-Identifier: Apache-2.0
// The loops that a fold is made of, over blocks that fit the first-level cache, compiled once per instruction
// set. Internal to the room; fold.h is its interface.
#pragma once

#include <cstddef>
#include <cstdint>

#include "contract/contract.h"

namespace detccl::device::host {

/// Instruction sets that the loops are compiled for. All give the same bits.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// Whether this build and this processor have it.
bool has(Isa isa);

/// The fastest one that this processor has.
Isa best_isa();

/// How the elements of an array are kept: as the payload type, or as what is computed with (fp32 for fp16).
enum class Storage : std::uint8_t { payload, value };

/// What becomes of a result.
enum class Finish : std::uint8_t {
  keep,     ///< stays a value
  round,    ///< rounded to the payload type
  average,  ///< divided by the number of ranks, then rounded
};

/// The loops for one payload type, accumulation and operation. Arrays have any alignment and `n` elements; an
/// output may be the same array as an input, with elements of the same size, and overlap none otherwise.
struct Kernels {
  using Combine = void (*)(const void* a, const void* b, void* out, std::size_t n, std::uint32_t ranks);
  using Single = void (*)(const void* in, void* out, std::size_t n, std::uint32_t ranks);
  using Scale = void (*)(const void* payload, std::uint64_t factor, void* values, std::size_t n);

  std::size_t value_size = 0;
  /// [a's storage][b's storage][finish]; (+) is commutative, so there is no [payload][value].
  Combine combine[2][2][3] = {};
  /// [storage][finish]: one operand; payload -> keep reads, value -> round writes.
  Single single[2][3] = {};
  /// value -> payload exactly: an unfinished result where accumulation is in a narrow payload type; else
  /// null.
  Single pack = nullptr;
  /// PreMulSum: payload times factor (a bit pattern of the payload type) -> values.
  Scale scale = nullptr;
};

/// The loops compiled for `isa`, which the processor must have.
Kernels kernels(Isa isa, contract::DataType type, contract::Accumulate accumulate, contract::Op op);

}  // namespace detccl::device::host
