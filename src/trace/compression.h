// SPDX-License-Identifier: Apache-2.0
// Packing of sealed segments: zstd, if the build has it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace detccl::trace {

bool can_compress();
/// Packs `bytes`; empty if that makes them no smaller, or the build has no zstd.
std::vector<std::byte> compress(std::span<const std::byte> bytes);
/// Unpacks into exactly `bytes`; false for anything that is not that long, or damaged, or without zstd.
bool decompress(std::span<const std::byte> packed, std::span<std::byte> bytes);

}  // namespace detccl::trace
