// SPDX-License-Identifier: Apache-2.0
#include "fingerprint/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace detccl::fingerprint {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as little-endian numbers");

Word read_word(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, kWordBytes);
  return word;
}

}  // namespace

void add(Sums& sums, const void* data, std::size_t bytes, std::uint64_t first_word) {
  const auto* from = static_cast<const std::byte*>(data);
  Key key = key_at(first_word);
  Sums added;
  for (std::size_t left = bytes / kWordBytes; left > 0; --left) {
    added += mix(read_word(from), key);
    key += step(1);
    from += kWordBytes;
  }
  if (const std::size_t rest = bytes % kWordBytes; rest != 0) {
    std::byte padded[kWordBytes] = {};
    std::memcpy(padded, from, rest);
    added += mix(read_word(padded), key);
  }
  sums += added;
}

Digest digest(const void* data, std::size_t bytes) {
  Sums sums;
  add(sums, data, bytes, 0);
  return finish(sums, bytes);
}

std::size_t chunk_count(std::size_t bytes, std::size_t chunk_bytes) {
  return bytes / chunk_bytes + (bytes % chunk_bytes != 0 ? 1 : 0);
}

void chunks(const void* data, std::size_t bytes, std::size_t chunk_bytes, Sums* table) {
  const auto* const from = static_cast<const std::byte*>(data);
  for (std::size_t start = 0; start < bytes; start += std::min(chunk_bytes, bytes - start)) {
    Sums sums;
    add(sums, from + start, std::min(chunk_bytes, bytes - start), start / kWordBytes);
    *table++ = sums;
  }
}

std::string to_string(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (unsigned i = 0; i < 32; ++i) {
    const std::uint64_t half = i < 16 ? digest.a : digest.b;
    text[i] = kDigits[half >> (60 - i % 16 * 4) & 15];
  }
  return text;
}

std::optional<Digest> parse(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  std::uint64_t halves[2] = {};
  for (std::size_t i = 0; i < 32; ++i) {
    const char c = text[i];
    std::uint64_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<std::uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<std::uint64_t>(c - 'a' + 10);
    else
      return std::nullopt;
    halves[i / 16] = halves[i / 16] << 4 | digit;
  }
  return Digest{halves[0], halves[1]};
}

}  // namespace detccl::fingerprint
