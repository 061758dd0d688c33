// SPDX-License-Identifier: Apache-2.0
#include "avalanche.h"

#include <cmath>

#include "mixes.h"

namespace detccl::fingerprint_trials {
namespace {

double deviation_of(std::uint32_t changes, std::uint64_t trials) {
  const auto n = static_cast<double>(trials);
  return (changes - n / 2) / (std::sqrt(n) / 2);
}

}  // namespace

Avalanche::Cell Avalanche::farthest() const {
  Cell cell;
  for (unsigned i = 0; i < kInputs; ++i) {
    for (unsigned o = 0; o < kOutputs; ++o) {
      const double d = deviation_of(changes[i][o], trials);
      if (std::abs(d) > std::abs(cell.deviation))
        cell = {i, o, static_cast<double>(changes[i][o]) / static_cast<double>(trials), d};
    }
  }
  return cell;
}

double Avalanche::spread() const {
  double squares = 0;
  for (const auto& row : changes) {
    for (const std::uint32_t n : row)
      squares += deviation_of(n, trials) * deviation_of(n, trials);
  }
  return std::sqrt(squares / (kInputs * kOutputs));
}

void run(Random& random, std::uint64_t trials, Avalanche& avalanche) {
  for (std::uint64_t done = 0; done < trials; ++done) {
    const std::uint64_t position = some_position(random);
    const Word word = Words(random).at(position);
    const Sums before = Fingerprint::at(word, position);
    for (unsigned i = 0; i < Avalanche::kInputs; ++i) {
      Word w = word;
      std::uint64_t p = position;
      const std::uint64_t bit = std::uint64_t{1} << i % 64;
      (i < 64 ? w.x : i < 128 ? w.y : p) ^= bit;
      const Sums after = Fingerprint::at(w, p);
      const std::uint64_t a = before.a ^ after.a, b = before.b ^ after.b;
      for (unsigned o = 0; o < 64; ++o) {
        avalanche.changes[i][o] += static_cast<std::uint32_t>(a >> o & 1);
        avalanche.changes[i][64 + o] += static_cast<std::uint32_t>(b >> o & 1);
      }
    }
  }
  avalanche.trials += trials;
}

}  // namespace detccl::fingerprint_trials
