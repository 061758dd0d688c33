// SPDX-License-Identifier: Apache-2.0
// Structured trials: pairs of payloads that differ in one way, and the difference of their sums. Sums are
// sums over words, so a trial needs only the words that differ.
#pragma once

#include <string_view>
#include <vector>

#include "counts.h"
#include "values.h"

namespace detccl::fingerprint_trials {

struct Family {
  std::string_view name;
  std::string_view what;
  void (*run)(Random& random, std::uint64_t trials, Counts& counts);
};

/// The fingerprint's mix and those that were not taken (mixes.h).
inline constexpr std::string_view kMixes[] = {"fingerprint", "halves", "one_product", "two_products",
                                              "three_rounds"};

/// All families, with the mix of that name. Empty for another name.
std::vector<Family> families(std::string_view mix);

}  // namespace detccl::fingerprint_trials
