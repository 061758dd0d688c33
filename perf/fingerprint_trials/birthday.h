// SPDX-License-Identifier: Apache-2.0
// Sets of payloads that differ from one another in small ways, each with all others: equal sums among them,
// and equal parts of sums against what is to be expected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "counts.h"
#include "values.h"

namespace detccl::fingerprint_trials {

struct Meetings {
  std::uint64_t payloads = 0;
  double pairs = 0;
  /// Pairs with the same a and b, the same a, the same b.
  std::uint64_t both = 0, a = 0, b = 0;
  /// Of some of the bits, as many as make about eight pairs expected.
  std::vector<Counts::Window> windows;
};

struct PayloadSet {
  std::string_view name;
  std::string_view what;
  /// `most`: at most so many payloads; no two are the same.
  std::vector<fingerprint::Sums> (*make)(Random& random, std::uint64_t most);
};

/// All sets, with the fingerprint's mix.
std::vector<PayloadSet> payload_sets();

Meetings meetings(const std::vector<fingerprint::Sums>& all);

}  // namespace detccl::fingerprint_trials
