// SPDX-License-Identifier: Apache-2.0
// The reference evaluator: a direct transcription of docs/contract.md, one element at a time, slow and
// plain. Everything else is tested against it, and it is tested against an independent oracle.
#pragma once

#include <cstdint>
#include <span>

#include "contract/contract.h"

namespace detccl::contract {

/// Reduces one element. `values`: one bit pattern per rank in rank order (the low bits of each word).
/// `scalar`: the bit pattern of PreMulSum's factor in type `type`; ignored by other operations.
/// Returns the result's bit pattern. `values` must not be empty.
std::uint64_t reduce_element(const Contract& contract, DataType type, Op op,
                             std::span<const std::uint64_t> values, std::uint64_t scalar = 0);

/// Reduces whole vectors: inputs[r] points to `count` elements of rank r (any alignment); `out` gets `count`.
void reduce(const Contract& contract, DataType type, Op op, std::span<const void* const> inputs, void* out,
            std::uint64_t count, std::uint64_t scalar = 0);

}  // namespace detccl::contract
