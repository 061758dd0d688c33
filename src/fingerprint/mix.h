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

/// What a word's halves are combined with: linear in the word's position, so that the key of a word at a
/// distance is this one plus step(distance).
struct Key {
  std::uint64_t p = 0;
  std::uint64_t q = 0;

  DETCCL_HD Key& operator+=(const Key& step) {
    p += step.p;
    q += step.q;
    return *this;
  }
};

/// The first 64 bits of the fractional part of the square roots of the first primes; those that multiply with
/// the last bit set.
inline constexpr std::uint64_t kStepP = 0x6a09e667f3bcc909;   // of 2
inline constexpr std::uint64_t kStepQ = 0xbb67ae8584caa73b;   // of 3
inline constexpr std::uint64_t kFirstP = 0x3c6ef372fe94f82b;  // of 5
inline constexpr std::uint64_t kFirstQ = 0xa54ff53a5f1d36f1;  // of 7
inline constexpr std::uint64_t kOtherX = 0x510e527fade682d1;  // of 11
inline constexpr std::uint64_t kOtherY = 0x9b05688c2b3e6c1f;  // of 13
inline constexpr std::uint64_t kLength = 0x1f83d9abfb41bd6b;  // of 17
inline constexpr std::uint64_t kRound[4] = {0x5be0cd19137e2179, 0xcbbb9d5dc1059ed9, 0x629a292a367cd507,
                                            0x9159015a3070dd17};  // of 19, 23, 29, 31

DETCCL_HD Key step(std::uint64_t words) {
  return {words * kStepP, words * kStepQ};
}

/// The key of the payload's word number `position`, counted from 0.
DETCCL_HD Key key_at(std::uint64_t position) {
  return {kFirstP + position * kStepP, kFirstQ + position * kStepQ};
}

/// The two halves of the 128-bit product, xored.
DETCCL_HD std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// What `word` with the key of its position adds.
DETCCL_HD Sums mix(const Word& word, const Key& key) {
  const std::uint64_t u = word.x ^ key.p, v = word.y ^ key.q;
  return {folded_product(u, v), folded_product(u ^ kOtherX, v ^ kOtherY)};
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
  b ^= folded_product(a ^ kOtherX, kRound[0]);
  a ^= folded_product(b ^ kOtherY, kRound[1]);
  b ^= folded_product(a ^ kOtherX, kRound[2]);
  a ^= folded_product(b ^ kOtherY, kRound[3]);
  return {a, b};
}

}  // namespace detccl::fingerprint
