// SPDX-License-Identifier: Apache-2.0
// The mix of the fingerprint, and others that were considered: what a word at a position adds to the sums.
#pragma once

#include "fingerprint/mix.h"

namespace detccl::fingerprint_trials {

using fingerprint::key_at;
using fingerprint::Sums;
using fingerprint::Word;

/// The fingerprint's: a folded product, and another one that takes its result in.
struct Fingerprint {
  static Sums at(const Word& word, std::uint64_t position) { return mix(word, key_at(position)); }
};

/// For the others: a word's halves with keys that are multiples of two constants, mod 2^64.
struct Keyed {
  Keyed(const Word& word, std::uint64_t position)
      : u(word.x ^ position * 0x9b05688c2b3e6c1f), v(word.y ^ position * 0x1f83d9abfb41bd6b) {}
  std::uint64_t u, v;
};

/// The halves of one product as they are.
struct Halves {
  static Sums at(const Word& word, std::uint64_t position) {
    const Keyed k(word, position);
    const fingerprint::Wide product = static_cast<fingerprint::Wide>(k.u) * k.v;
    return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
  }
};

/// The halves of one product put together in two ways.
struct OneProduct {
  static Sums at(const Word& word, std::uint64_t position) {
    const Sums halves = Halves::at(word, position);
    return {halves.a ^ halves.b, halves.a + (halves.b << 29 | halves.b >> 35)};
  }
};

/// Two folded products that do not know of each other.
struct TwoProducts {
  static Sums at(const Word& word, std::uint64_t position) {
    using namespace fingerprint;
    const Keyed k(word, position);
    return {folded_product(k.u, k.v), folded_product(k.u ^ kOtherU, k.v ^ kOtherV)};
  }
};

/// Three Feistel rounds by folded products with constants: one to one for each position.
struct ThreeRounds {
  static Sums at(const Word& word, std::uint64_t position) {
    using namespace fingerprint;
    Keyed k(word, position);
    k.v += folded_product(k.u, kRounds[0]);
    k.u += folded_product(k.v, kRounds[1]);
    k.v += folded_product(k.u, kRounds[2]);
    return {k.u, k.v};
  }
};

}  // namespace detccl::fingerprint_trials
