// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the fingerprint (docs/fingerprint.md), one definition for host and GPU: what a 16-byte
// word adds to the two sums, and how sums become a digest. Kernels that read a payload anyway may use it as
// it is.
#pragma once

#include <cstdint>

#include "contract/host_device.h"

namespace detccl::fingerprint {

/// What words have added so far, mod 2^64. Sums of pieces of a payload add up to the payload's.
struct Sums {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  DETCCL_HD Sums& operator+=(const Sums& other) {
    a += other.a;
    b += other.b;
    return *this;
  }
  friend bool operator==(const Sums&, const Sums&) = default;
};

/// 16 bytes of payload, read as little-endian numbers: x the first eight, y the others.
struct Word {
  std::uint64_t x = 0;
  std::uint64_t y = 0;
};

__extension__ using Wide = unsigned __int128;

/// A number of 128 bits from its halves.
DETCCL_HD constexpr Wide wide(std::uint64_t high, std::uint64_t low) {
  return static_cast<Wide>(high) << 64 | low;
}

/// The fractional parts of the square roots of the first primes, the first 128 or 64 bits; of those that
/// something is multiplied with, the last bit is set.
inline constexpr Wide kStep = wide(0x6a09e667f3bcc908, 0xb2fb1366ea957d3f);   // of 2
inline constexpr Wide kFirst = wide(0xbb67ae8584caa73b, 0x25742d7078b83b89);  // of 3
inline constexpr std::uint64_t kOtherU = 0x3c6ef372fe94f82b;                  // of 5
inline constexpr std::uint64_t kOtherV = 0xa54ff53a5f1d36f1;                  // of 7
inline constexpr std::uint64_t kLength = 0x510e527fade682d1;                  // of 11
inline constexpr std::uint64_t kRounds[4] = {0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
                                             0xcbbb9d5dc1059ed9};  // of 13, 17, 19, 23

/// A word's number in the payload as the mix takes it: every word's is the one before plus a constant, mod
/// 2^128. The high half is different in all its bits for any two words, even if they are a power of two
/// apart.
struct Key {
  Wide value = 0;

  DETCCL_HD Key& operator+=(Wide step) {
    value += step;
    return *this;
  }
};

/// What the key of a word so many `words` behind another one has more.
DETCCL_HD Wide step(std::uint64_t words) {
  return words * kStep;
}

/// The key of the payload's word number `position`, counted from 0.
DETCCL_HD Key key_at(std::uint64_t position) {
  return {kFirst + step(position)};
}

/// The two halves of the 128-bit product, xored.
DETCCL_HD std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// What `word` with the key of its position adds.
DETCCL_HD Sums mix(const Word& word, const Key& key) {
  const auto low = static_cast<std::uint64_t>(key.value), high = static_cast<std::uint64_t>(key.value >> 64);
  const std::uint64_t u = word.x ^ high, v = word.y ^ high ^ low;
  const std::uint64_t first = folded_product(u, v);
  const std::uint64_t second = folded_product(first ^ u ^ kOtherU, v ^ kOtherV);
  return {first ^ second, second};
}

/// 128 bits for a payload of a known length.
struct Digest {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// The digest of a payload of `bytes` bytes whose words add up to `sums`. One to one for each length, and the
/// same sums with another length give another digest.
DETCCL_HD Digest finish(const Sums& sums, std::uint64_t bytes) {
  std::uint64_t a = sums.a + bytes * kLength, b = sums.b;
  b ^= folded_product(a ^ kOtherU, kRounds[0]);
  a ^= folded_product(b ^ kOtherV, kRounds[1]);
  b ^= folded_product(a ^ kOtherU, kRounds[2]);
  a ^= folded_product(b ^ kOtherV, kRounds[3]);
  return {a, b};
}

}  // namespace detccl::fingerprint
