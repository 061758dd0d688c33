// SPDX-License-Identifier: Apache-2.0
// Words as payloads have them, and places to put them.
#pragma once

#include <bit>
#include <cstdint>

#include "fingerprint/mix.h"

namespace detccl::fingerprint_trials {

/// Random numbers: a linear congruential generator of 128 bits, its halves xored and rotated (PCG XSL RR).
/// Small numbers share a draw.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed) : state_(kStep * seed + kStep) {
    for (int i = 0; i < 4; ++i)
      (*this)();
  }
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    state_ = state_ * kMultiplier + kStep;
    const auto high = static_cast<std::uint64_t>(state_ >> 64);
    return std::rotr(high ^ static_cast<std::uint64_t>(state_), static_cast<int>(high >> 58));
  }

  /// A number below `end`, which is small.
  unsigned below(unsigned end) {
    if (left_ == 0) bits_ = (*this)(), left_ = 4;
    --left_;
    const unsigned drawn = bits_ & 0xffff;
    bits_ >>= 16;
    return drawn * end >> 16;
  }

 private:
  static constexpr auto kMultiplier = fingerprint::wide(0x2360ed051fc65da4, 0x4385df649fccf645);
  static constexpr auto kStep = fingerprint::wide(0x5851f42d4c957f2d, 0x14057b7ef767814f);

  fingerprint::Wide state_;
  std::uint64_t bits_ = 0;
  int left_ = 0;
};

/// What a payload's words are made of.
enum class Kind : std::uint8_t { zeros, repeated, counting, bfloat16, float32, random };
inline constexpr int kKinds = 6;

/// An fp32 of random sign and fraction whose exponent is that of 1 or some less.
inline std::uint32_t some_float(std::uint64_t random) {
  const auto exponent = static_cast<std::uint32_t>(127 - (random >> 40) % 12);
  return static_cast<std::uint32_t>(random >> 63 << 31) | exponent << 23 |
         static_cast<std::uint32_t>(random & 0x7fffff);
}

/// Some words of one payload.
class Words {
 public:
  explicit Words(Random& random)
      : random_(random), kind_(static_cast<Kind>(random.below(kKinds))), first_(random()) {}

  /// The word at a position that was not asked for before.
  fingerprint::Word at(std::uint64_t position) {
    switch (kind_) {
      case Kind::zeros:
        return {};
      case Kind::repeated: {  // elements of four bytes
        const std::uint64_t twice = (first_ & 0xffffffff) * 0x100000001;
        return {twice, twice};
      }
      case Kind::counting: {
        const std::uint64_t element = 4 * position & 0x0fffffff;
        return {(element + 1) << 32 | element, (element + 3) << 32 | (element + 2)};
      }
      case Kind::bfloat16:
        return {short_floats(), short_floats()};
      case Kind::float32:
        return {floats(), floats()};
      case Kind::random:
        break;
    }
    return {random_(), random_()};
  }

 private:
  std::uint64_t floats() {
    const std::uint64_t a = random_(), b = a * 0x9e3779b97f4a7c15;
    return static_cast<std::uint64_t>(some_float(a)) << 32 | some_float(b);
  }

  /// Four bf16: the upper halves of fp32.
  std::uint64_t short_floats() {
    constexpr std::uint64_t kUpper = 0xffff0000ffff0000;
    return (floats() & kUpper) | (floats() & kUpper) >> 16;
  }

  Random& random_;
  Kind kind_;
  std::uint64_t first_;
};

/// A word's number, below 2^45: any, or one at a multiple of a power of two. So many that trials seldom
/// repeat one another, which would make their counts uneven.
inline std::uint64_t some_position(Random& random) {
  const std::uint64_t r = random(), position = (r >> 20) + 16;
  if (r % 4 != 0) return position;
  const auto bits = static_cast<unsigned>(r >> 2 & 15);
  return (position >> bits << bits) + (r >> 6 & 7) - 4;
}

/// A distance between two words: mostly small or a power of two.
inline std::uint64_t some_distance(Random& random) {
  const std::uint64_t r = random();
  if (r % 2 == 0) return 1 + (r >> 8) % 16;
  if (r % 4 == 1) return std::uint64_t{1} << (r >> 8) % 34;
  return 1 + (r >> 8 & 0xffffffff);
}

}  // namespace detccl::fingerprint_trials
