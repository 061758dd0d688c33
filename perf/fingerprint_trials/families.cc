// SPDX-License-Identifier: Apache-2.0
#include "families.h"

#include <algorithm>
#include <cstring>

#include "mixes.h"

namespace detccl::fingerprint_trials {
namespace {

/// A few words of a payload at their positions, to be changed.
class Piece {
 public:
  static constexpr unsigned kMost = 16;

  /// Undefined words.
  Piece(std::uint64_t first, unsigned count) : count_(count) {
    for (unsigned i = 0; i < count; ++i)
      position_[i] = first + i;
  }
  Piece(Words& words, std::uint64_t first, unsigned count) { append(words, first, count); }

  void append(Words& words, std::uint64_t first, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      append(words.at(first + i), first + i);
  }
  void append(const Word& word, std::uint64_t position) {
    position_[count_] = position;
    before_[count_] = after_[count_] = word;
    ++count_;
  }

  unsigned count() const { return count_; }
  std::uint64_t position(unsigned i) const { return position_[i]; }
  Word& operator[](unsigned i) { return after_[i]; }
  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(after_); }
  void reset_after() { std::copy(before_, before_ + count_, after_); }
  Word* before() { return before_; }

  bool differs() const {
    for (unsigned i = 0; i < count_; ++i) {
      if (!same(i)) return true;
    }
    return false;
  }

  template <class Mix>
  Sums difference() const {
    Sums sums;
    for (unsigned i = 0; i < count_; ++i) {
      if (same(i)) continue;
      const Sums before = Mix::at(before_[i], position_[i]);
      sums += Mix::at(after_[i], position_[i]);
      sums += {-before.a, -before.b};
    }
    return sums;
  }

 private:
  bool same(unsigned i) const { return before_[i].x == after_[i].x && before_[i].y == after_[i].y; }

  unsigned count_ = 0;
  std::uint64_t position_[kMost];
  Word before_[kMost], after_[kMost];
};

void flip(Piece& piece, unsigned word, unsigned bit) {
  piece.bytes()[16 * word + bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
}

/// Bytes of an element: 1, 2, 4 or 8.
unsigned some_size(Random& random) {
  return 1U << random.below(4);
}

/// Two words, mostly near to each other or a power of two apart.
Piece two_words(Random& random) {
  Words words(random);
  const std::uint64_t first = some_position(random);
  Piece piece(words, first, 1);
  piece.append(words, first + some_distance(random), 1);
  return piece;
}

Piece run_of(Random& random, unsigned count) {
  Words words(random);
  return {words, some_position(random), count};
}

Piece single_bit(Random& random) {
  Piece piece = run_of(random, 1);
  flip(piece, 0, random.below(128));
  return piece;
}

Piece same_bit_twice(Random& random) {
  Piece piece = two_words(random);
  const unsigned bit = random.below(128);
  flip(piece, 0, bit);
  flip(piece, 1, bit);
  return piece;
}

Piece sparse_bits(Random& random) {
  Piece piece = run_of(random, 4);
  for (unsigned flips = 2 + random.below(3); flips > 0; --flips)
    flip(piece, random.below(4), random.below(128));
  return piece;
}

/// The only nonzero byte is somewhere else.
Piece moved_byte(Random& random) {
  const std::uint64_t first = some_position(random);
  Piece piece(first, 1);
  piece.append({}, first + some_distance(random));
  piece.before()[0] = {};
  piece.reset_after();
  const unsigned from = random.below(16), to = random.below(4) == 0 ? random.below(16) : from;
  const auto byte = static_cast<std::uint8_t>(1 + random.below(255));
  reinterpret_cast<std::uint8_t*>(piece.before())[from] = byte;
  piece.bytes()[16 + to] = byte;
  return piece;
}

Piece swapped_words(Random& random) {
  Piece piece = two_words(random);
  std::swap(piece[0], piece[1]);
  return piece;
}

Piece swapped_elements(Random& random) {
  Piece piece = two_words(random);
  const unsigned size = some_size(random), per_word = 16 / size;
  const unsigned i = random.below(per_word), j = random.below(2 * per_word);
  std::swap_ranges(piece.bytes() + i * size, piece.bytes() + (i + 1) * size, piece.bytes() + j * size);
  return piece;
}

Piece swapped_halves(Random& random) {
  Piece piece = two_words(random);
  if (random.below(2) == 0)
    std::swap(piece[0].x, piece[0].y);
  else
    std::swap(piece[0].x, piece[1].y);
  return piece;
}

Piece permuted_words(Random& random) {
  Piece piece = run_of(random, 3 + random.below(6));
  if (random.below(2) == 0)
    std::rotate(&piece[0], &piece[0] + 1 + random.below(piece.count() - 1), &piece[0] + piece.count());
  else
    std::shuffle(&piece[0], &piece[0] + piece.count(), random);
  return piece;
}

/// One value everywhere, but another one in some elements: the same number of them in other places.
Piece repeated_values(Random& random) {
  constexpr unsigned kWords = 8;
  constexpr std::uint64_t kRepeats[] = {0x0101010101010101, 0x0001000100010001, 0x0000000100000001, 1};
  Piece piece(some_position(random), kWords);
  const unsigned log_size = random.below(4), size = 1U << log_size;
  const std::uint64_t common = random() >> (64 - 8 * size);
  const std::uint64_t rare = random.below(2) == 0 ? common + 1 : random();
  const std::uint64_t both = common * kRepeats[log_size];
  std::fill(piece.before(), piece.before() + kWords, Word{both, both});
  piece.reset_after();
  auto* const before = reinterpret_cast<std::uint8_t*>(piece.before());
  for (unsigned rares = 1 + random.below(4); rares > 0; --rares) {
    std::memcpy(before + random.below(kWords * 16 / size) * size, &rare, size);
    std::memcpy(piece.bytes() + random.below(kWords * 16 / size) * size, &rare, size);
  }
  return piece;
}

/// A page of zeros and one of data, exchanged.
Piece zero_pages(Random& random) {
  constexpr unsigned kPage = Piece::kMost / 2;
  Words words(random);
  const std::uint64_t zeros = some_position(random) / kPage * kPage;
  const std::uint64_t data = zeros + kPage * some_distance(random);
  Piece piece(zeros, 0);
  for (unsigned i = 0; i < kPage; ++i)
    piece.append({}, zeros + i);
  piece.append(words, data, kPage);
  std::swap_ranges(&piece[0], &piece[kPage], &piece[kPage]);
  return piece;
}

/// Data moved by an element or a word, what was behind it put in front.
Piece shifted_data(Random& random) {
  Piece piece = run_of(random, 2 + random.below(7));
  const unsigned by = std::min(1U << random.below(5), 16U);
  std::rotate(piece.bytes(), piece.bytes() + by, piece.bytes() + 16 * piece.count());
  return piece;
}

/// As much is taken from one element as is given to another.
Piece balanced_changes(Random& random) {
  Piece piece = two_words(random);
  const unsigned size = some_size(random), per_word = 16 / size;
  const std::uint64_t amount = random.below(2) == 0 ? 1 : random() >> random.below(64);
  const unsigned at[2] = {random.below(per_word), random.below(per_word)};
  for (unsigned word = 0; word < 2; ++word) {
    std::uint8_t* const element = piece.bytes() + 16 * word + at[word] * size;
    std::uint64_t value = 0;
    std::memcpy(&value, element, size);
    value = word == 0 ? value + amount : value - amount;
    std::memcpy(element, &value, size);
  }
  return piece;
}

/// Two signs are the other way.
Piece flipped_signs(Random& random) {
  Piece piece = two_words(random);
  const unsigned bits = 8 * some_size(random), per_word = 128 / bits;
  for (unsigned word = 0; word < 2; ++word)
    flip(piece, word, random.below(per_word) * bits + bits - 1);
  return piece;
}

/// Around a boundary of chunks: what is on both sides, or the same places of two chunks, exchanged.
Piece chunk_boundaries(Random& random) {
  Words words(random);
  const std::uint64_t chunk = std::uint64_t{1} << (3 + random.below(24));
  const std::uint64_t boundary = chunk * (1 + (random() >> 40));
  const unsigned length = 1 + random.below(4);
  Piece piece(words, boundary - length, length);
  piece.append(words, random.below(2) == 0 ? boundary : boundary - length + chunk, length);
  std::swap_ranges(&piece[0], &piece[0] + length, &piece[0] + length);
  return piece;
}

template <class Mix, Piece (*kTrial)(Random&)>
void run(Random& random, std::uint64_t trials, Counts& counts) {
  for (std::uint64_t done = 0; done < trials;) {
    const Piece piece = kTrial(random);
    if (!piece.differs()) continue;  // equal words were exchanged
    counts.add(piece.difference<Mix>());
    ++done;
  }
}

template <class Mix>
std::vector<Family> families_of() {
  return {
      {"single_bit", "one bit", run<Mix, single_bit>},
      {"same_bit_twice", "the same bit of two words", run<Mix, same_bit_twice>},
      {"sparse_bits", "2 to 4 bits in 4 words", run<Mix, sparse_bits>},
      {"moved_byte", "the only nonzero byte elsewhere", run<Mix, moved_byte>},
      {"swapped_words", "two 16-byte words exchanged", run<Mix, swapped_words>},
      {"swapped_elements", "two elements of 1 to 8 bytes exchanged", run<Mix, swapped_elements>},
      {"swapped_halves", "halves of words exchanged", run<Mix, swapped_halves>},
      {"permuted_words", "3 to 8 words rotated or shuffled", run<Mix, permuted_words>},
      {"repeated_values", "one value repeated; the exceptions elsewhere", run<Mix, repeated_values>},
      {"zero_pages", "a page of zeros and one of data exchanged", run<Mix, zero_pages>},
      {"shifted_data", "data moved by 1 to 16 bytes", run<Mix, shifted_data>},
      {"balanced_changes", "one element more, another one less by as much", run<Mix, balanced_changes>},
      {"flipped_signs", "the signs of two elements", run<Mix, flipped_signs>},
      {"chunk_boundaries", "exchanges across and between chunks", run<Mix, chunk_boundaries>},
  };
}

}  // namespace

std::vector<Family> families(std::string_view mix) {
  if (mix == "fingerprint") return families_of<Fingerprint>();
  if (mix == "halves") return families_of<Halves>();
  if (mix == "one_product") return families_of<OneProduct>();
  if (mix == "two_products") return families_of<TwoProducts>();
  if (mix == "three_rounds") return families_of<ThreeRounds>();
  return {};
}

}  // namespace detccl::fingerprint_trials
