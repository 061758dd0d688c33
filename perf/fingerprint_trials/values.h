// SPDX-License-Identifier: Apache-2.0
// Words as payloads have them, and places to put them.
#pragma once

#include <cstdint>
#include <random>

#include "fingerprint/mix.h"

namespace detccl::fingerprint_trials {

using Random = std::mt19937_64;

/// What a payload's words are made of.
enum class Kind : std::uint8_t { zeros, repeated, counting, bfloat16, float32, random };
inline constexpr int kKinds = 6;

/// A number below `end`.
inline unsigned below(Random& random, unsigned end) {
  return static_cast<unsigned>(random() % end);
}

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
      : random_(random), kind_(static_cast<Kind>(random() % kKinds)), first_(random()) {}

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
