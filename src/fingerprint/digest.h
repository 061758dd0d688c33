// SPDX-License-Identifier: Apache-2.0
// Fingerprints of payloads in host memory; docs/fingerprint.md defines them. A payload of n bytes is cut into
// 16-byte words, numbered from 0, the last one padded with zeros. What a word adds to the sums depends on its
// bytes and its number, so the sums of pieces, each added at its own place in any order, are the payload's.
// Nothing here throws or allocates (but to_string). Thread rule: none, all is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fingerprint/mix.h"

namespace detccl::fingerprint {

inline constexpr std::size_t kWordBytes = 16;

/// Adds `bytes` bytes that begin with the payload's word number `first_word`. Only the payload's last piece
/// may have a number of bytes that is no multiple of 16. Any alignment.
void add(Sums& sums, const void* data, std::size_t bytes, std::uint64_t first_word);

/// The digest of a whole payload: add() from word 0, then finish().
Digest digest(const void* data, std::size_t bytes);

/// How many chunks of `chunk_bytes` (not 0) a payload has; the last one may be shorter.
std::size_t chunk_count(std::size_t bytes, std::size_t chunk_bytes);

/// A chunk table: table[c] = the sums of chunk c, c < chunk_count(bytes, chunk_bytes), at its place in the
/// payload. The entries' sum is the payload's. `chunk_bytes`: a multiple of 16, not 0.
void chunks(const void* data, std::size_t bytes, std::size_t chunk_bytes, Sums* table);

/// 32 hexadecimal digits: a, then b, the most significant digit first. parse() takes nothing else.
std::string to_string(const Digest& digest);
std::optional<Digest> parse(std::string_view text);

}  // namespace detccl::fingerprint
