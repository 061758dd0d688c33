// SPDX-License-Identifier: Apache-2.0
// Which bits of what a word adds change when one bit of the word, or of its position, does: each should in
// half of all cases.
#pragma once

#include <cstdint>

#include "values.h"

namespace detccl::fingerprint_trials {

struct Avalanche {
  static constexpr unsigned kPositionBits = 40;
  static constexpr unsigned kInputs = 128 + kPositionBits;  ///< the word's bits, then the position's
  static constexpr unsigned kOutputs = 128;                 ///< the bits of a, then those of b

  std::uint64_t trials = 0;  ///< of each input bit
  std::uint32_t changes[kInputs][kOutputs] = {};

  /// The cell farthest from one half, in standard deviations: `deviation` of its `share` of changes.
  struct Cell {
    unsigned input = 0, output = 0;
    double share = 0.5, deviation = 0;
  };
  Cell farthest() const;
  /// Standard deviation of all cells' deviations: 1 for coins.
  double spread() const;
};

/// Flips every input bit of `trials` words (fewer than 2^32) of all kinds at random positions.
void run(Random& random, std::uint64_t trials, Avalanche& avalanche);

}  // namespace detccl::fingerprint_trials
