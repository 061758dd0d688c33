// SPDX-License-Identifier: Apache-2.0
#include "birthday.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fingerprint/digest.h"
#include "mixes.h"

namespace detccl::fingerprint_trials {
namespace {

Sums difference(const Word& before, const Word& after, std::uint64_t position) {
  const Sums old = Fingerprint::at(before, position);
  Sums sums = Fingerprint::at(after, position);
  sums += {-old.a, -old.b};
  return sums;
}

std::vector<Word> some_words(Random& random, std::uint64_t count) {
  Words words(random);
  std::vector<Word> all(count);
  for (std::uint64_t i = 0; i < count; ++i)
    all[i] = words.at(i);
  return all;
}

Word flipped(Word word, std::uint64_t bit) {
  (bit % 128 < 64 ? word.x : word.y) ^= std::uint64_t{1} << bit % 64;
  return word;
}

/// Every bit of a payload, flipped alone.
std::vector<Sums> single_bits(Random& random, std::uint64_t most) {
  const auto words = some_words(random, most / 128);
  std::vector<Sums> all;
  for (std::uint64_t bit = 0; bit < words.size() * 128; ++bit)
    all.push_back(difference(words[bit / 128], flipped(words[bit / 128], bit), bit / 128));
  return all;
}

/// Every two bits of a small payload.
std::vector<Sums> bit_pairs(Random& random, std::uint64_t most) {
  const auto bits = static_cast<std::uint64_t>(std::sqrt(2.0 * static_cast<double>(most)));
  const auto words = some_words(random, bits / 128 + 1);
  std::vector<Sums> all;
  for (std::uint64_t i = 0; i < bits; ++i) {
    const Sums one = difference(words[i / 128], flipped(words[i / 128], i), i / 128);
    for (std::uint64_t j = 0; j < i; ++j) {
      if (i / 128 == j / 128) {
        all.push_back(difference(words[i / 128], flipped(flipped(words[i / 128], i), j), i / 128));
      } else {
        all.push_back(difference(words[j / 128], flipped(words[j / 128], j), j / 128));
        all.back() += one;
      }
    }
  }
  return all;
}

/// Zeros, but for one byte.
std::vector<Sums> single_bytes(Random&, std::uint64_t most) {
  std::vector<Sums> all;
  for (std::uint64_t at = 0; at < most / 255; ++at) {
    for (std::uint64_t byte = 1; byte < 256; ++byte) {
      const Word word{at % 16 < 8 ? byte << at % 8 * 8 : 0, at % 16 < 8 ? 0 : byte << at % 8 * 8};
      all.push_back(difference({}, word, at / 16));
    }
  }
  return all;
}

/// Every two words of a payload exchanged; all words are different.
std::vector<Sums> swaps(Random& random, std::uint64_t most) {
  const auto count = static_cast<std::uint64_t>(std::sqrt(2.0 * static_cast<double>(most)));
  std::vector<Word> words(count);
  const bool floats = random() % 2 == 0;
  for (std::uint64_t i = 0; i < count; ++i)
    words[i] = floats ? Word{0x3f8000003f800000 + i, random() & 0x3fff0000} : Word{random(), random()};
  std::vector<Sums> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t j = 0; j < i; ++j) {
      Sums sums = difference(words[i], words[j], i);
      sums += difference(words[j], words[i], j);
      all.push_back(sums);
    }
  }
  return all;
}

/// Payloads of 64 words, each of one four-byte element repeated.
std::vector<Sums> repeated(Random& random, std::uint64_t most) {
  std::vector<Sums> all;
  const std::uint64_t first = random() & 0x7fffffff;
  for (std::uint64_t i = 0; i < most / 16; ++i) {
    const std::uint64_t twice = ((first + i) & 0xffffffff) * 0x100000001;
    Sums sums;
    for (std::uint64_t position = 0; position < 64; ++position)
      sums += Fingerprint::at({twice, twice}, position);
    all.push_back(sums);
  }
  return all;
}

/// Digests of zeros of every length in bytes.
std::vector<Sums> zeros(Random&, std::uint64_t most) {
  std::vector<Sums> all;
  Sums sums;
  for (std::uint64_t bytes = 0; bytes < most; ++bytes) {
    if (bytes % 16 == 1) sums += Fingerprint::at({}, bytes / 16);
    const fingerprint::Digest digest = fingerprint::finish(sums, bytes);
    all.push_back({digest.a, digest.b});
  }
  return all;
}

/// Equal pairs among `values`, which are sorted.
std::uint64_t equal_pairs(const std::vector<std::uint64_t>& values) {
  std::uint64_t pairs = 0, same = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    same = values[i] == values[i - 1] ? same + 1 : 0;
    pairs += same;
  }
  return pairs;
}

template <class View>
std::uint64_t meetings_of(const std::vector<Sums>& all, View view) {
  std::vector<std::uint64_t> values(all.size());
  std::transform(all.begin(), all.end(), values.begin(), view);
  std::sort(values.begin(), values.end());
  return equal_pairs(values);
}

}  // namespace

std::vector<PayloadSet> payload_sets() {
  return {
      {"single_bits", "every bit of a payload flipped", single_bits},
      {"bit_pairs", "every two bits of a payload flipped", bit_pairs},
      {"single_bytes", "zeros but for one byte, of every value and place", single_bytes},
      {"swaps", "every two words of a payload exchanged", swaps},
      {"repeated", "one element repeated, of many values", repeated},
      {"zeros", "zeros of every length (digests)", zeros},
  };
}

Meetings meetings(const std::vector<Sums>& all) {
  Meetings m;
  m.payloads = all.size();
  m.pairs = static_cast<double>(all.size()) * static_cast<double>(all.size() - 1) / 2;
  m.a = meetings_of(all, [](const Sums& s) { return s.a; });
  m.b = meetings_of(all, [](const Sums& s) { return s.b; });
  std::vector<Sums> sorted = all;
  const auto less = [](const Sums& s, const Sums& t) { return s.a != t.a ? s.a < t.a : s.b < t.b; };
  std::sort(sorted.begin(), sorted.end(), less);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    m.both += sorted[i] == sorted[i - 1];

  const int bits = std::max(2, static_cast<int>(std::lround(std::log2(m.pairs))) - 3) / 2 * 2;
  const double expected = std::ldexp(m.pairs, -bits);
  const auto add = [&](const char* name, auto view) {
    const std::uint64_t met = meetings_of(all, view);
    m.windows.push_back({name, met, expected, poisson_tail(met, expected)});
  };
  const int rest = 64 - bits, half = bits / 2;
  add("a, low", [=](const Sums& s) { return s.a << rest; });
  add("a, high", [=](const Sums& s) { return s.a >> rest; });
  add("b, low", [=](const Sums& s) { return s.b << rest; });
  add("b, high", [=](const Sums& s) { return s.b >> rest; });
  add("a and b, low", [=](const Sums& s) { return s.a << (64 - half) >> half | s.b << (64 - half); });
  add("a and b, high", [=](const Sums& s) { return s.a >> (64 - half) | s.b >> (64 - half) << 32; });
  return m;
}

}  // namespace detccl::fingerprint_trials
