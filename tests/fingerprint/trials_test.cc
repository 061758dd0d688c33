// SPDX-License-Identifier: Apache-2.0
// The structured trials of perf/fingerprint_trials in small numbers, with a seed of the day. A run fails if a
// change goes unseen in either half of the sums, or if a count has less than one chance in 10^9; some 500 are
// looked at.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "fingerprint_trials/avalanche.h"
#include "fingerprint_trials/birthday.h"
#include "fingerprint_trials/families.h"

namespace detccl::fingerprint_trials {
namespace {

constexpr double kImprobable = 1e-9;

std::uint64_t new_seed() {
  const char* const chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  return seed;
}

/// The smallest probability of a count, over all families of a mix.
double least_probable(std::string_view mix, std::uint64_t trials, std::uint64_t seed) {
  double least = 1;
  for (const Family& family : families(mix)) {
    Random random(seed);
    Counts counts;
    family.run(random, trials, counts);
    for (const auto& window : counts.windows())
      least = std::min(least, window.probability);
  }
  return least;
}

TEST(Trials, EveryChangeShowsAndSumsLookRandom) {
  const std::uint64_t seed = new_seed();
  const auto all = families("fingerprint");
  ASSERT_EQ(all.size(), 14U);
  for (const Family& family : all) {
    Random random(seed);
    Counts counts;
    family.run(random, 300000, counts);
    EXPECT_EQ(counts.trials(), 300000U);
    EXPECT_EQ(counts.collisions_a(), 0U) << family.name;
    EXPECT_EQ(counts.collisions_b(), 0U) << family.name;
    for (const auto& w : counts.windows()) {
      EXPECT_GT(w.probability, kImprobable)
          << family.name << ": bits " << w.name << " zero " << w.zeros << " times, expected " << w.expected;
    }
  }
}

TEST(Trials, NoTwoPayloadsOfASetMeet) {
  Random random(new_seed());
  for (const PayloadSet& set : payload_sets()) {
    const Meetings m = meetings(set.make(random, 1 << 17));
    EXPECT_GT(m.payloads, 8000U) << set.name;
    EXPECT_EQ(m.a, 0U) << set.name;
    EXPECT_EQ(m.b, 0U) << set.name;
    for (const auto& w : m.windows) {
      EXPECT_GT(w.probability, kImprobable) << set.name << ": bits of " << w.name << " the same for "
                                            << w.zeros << " pairs, expected " << w.expected;
    }
  }
}

TEST(Trials, EveryBitChangesHalfOfTheBits) {
  Random random(new_seed());
  const auto avalanche = std::make_unique<Avalanche>();
  run(random, 10000, *avalanche);
  const auto cell = avalanche->farthest();
  EXPECT_LT(std::abs(cell.deviation), 6.5) << "input bit " << cell.input << ", output bit " << cell.output;
  EXPECT_NEAR(avalanche->spread(), 1, 0.05);
}

TEST(Trials, FindWhatIsWrongWithWeakerMixes) {
  const std::uint64_t seed = new_seed();
  for (const std::string_view mix : {"halves", "one_product", "two_products", "three_rounds"})
    EXPECT_LT(least_probable(mix, 300000, seed), kImprobable) << mix;
}

TEST(Trials, PoissonTails) {
  EXPECT_NEAR(poisson_tail(0, 2), 0.135335, 1e-6);
  EXPECT_NEAR(poisson_tail(5, 2), 0.052653, 1e-6);
  EXPECT_NEAR(poisson_tail(100, 100), 0.526562, 1e-5);
  EXPECT_LT(poisson_tail(200, 100), 1e-17);
  EXPECT_LT(poisson_tail(30, 100), 1e-14);
}

}  // namespace
}  // namespace detccl::fingerprint_trials
