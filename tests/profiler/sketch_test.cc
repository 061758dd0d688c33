// SPDX-License-Identifier: Apache-2.0
#include "profile/sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace detccl::profile {
namespace {

TEST(Sketch, QuantilesAreWithinFivePercent) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> spread(10, 3);
  Sketch sketch, other;
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::uint64_t>(spread(random));
    values.push_back(static_cast<double>(value));
    (i % 3 == 0 ? other : sketch).add(value);
  }
  sketch.merge(other);
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values)
    sum += value;
  EXPECT_EQ(sketch.count(), values.size());
  EXPECT_NEAR(sketch.mean(), sum / 20'000, sum / 20'000 * 1e-9);
  for (const double q : {0.01, 0.5, 0.95, 0.99}) {
    const double exact = values[static_cast<std::size_t>(std::ceil(q * 20'000)) - 1];
    EXPECT_NEAR(sketch.quantile(q), exact, 0.0626 * exact + 1) << q;
  }
  EXPECT_EQ(sketch.quantile(1), values.back());
}

TEST(Sketch, EndsOfTheScale) {
  Sketch sketch;
  EXPECT_EQ(sketch.quantile(0.5), 0);
  EXPECT_EQ(sketch.standard_error(), 0);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8}, ~std::uint64_t{0}})
    sketch.add(value);
  EXPECT_EQ(sketch.count(), 4u);
  EXPECT_EQ(sketch.min(), 0u);
  EXPECT_EQ(sketch.max(), ~std::uint64_t{0});
}

TEST(Sketch, RestoresWhatWasWrittenAndNothingElse) {
  Sketch sketch;
  for (std::uint64_t i = 1; i < 1000; ++i)
    sketch.add(i * i);
  Sketch again;
  ASSERT_TRUE(again.restore(sketch.buckets(), sketch.sum(), sketch.square_sum(), sketch.min(), sketch.max()));
  EXPECT_EQ(again.quantile(0.5), sketch.quantile(0.5));
  EXPECT_EQ(again.standard_error(), sketch.standard_error());
  EXPECT_FALSE(again.restore(sketch.buckets(), 2 * sketch.sum() + 1e12, sketch.square_sum(), sketch.min(),
                             sketch.max()));
  EXPECT_FALSE(again.restore(sketch.buckets(), sketch.sum(), sketch.square_sum(), 100'000'000, sketch.max()));
  EXPECT_EQ(again.count(), 0u);
}

}  // namespace
}  // namespace detccl::profile
