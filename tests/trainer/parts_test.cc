// SPDX-License-Identifier: Apache-2.0
// The trainer's arithmetic and data, without any communication.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "bf16.h"
#include "digest.h"
#include "digits.h"
#include "fixed_math.h"
#include "model.h"

namespace trainer {
namespace {

TEST(FixedMath, AgreesWithTheLibrary) {
  for (int i = 0; i <= 70000; ++i) {
    const double x = -i / 100.0;
    EXPECT_NEAR(fixed_exp(x) / std::exp(x), 1.0, 4e-15) << x;
  }
  EXPECT_EQ(fixed_exp(0.0), 1.0);
  EXPECT_EQ(fixed_exp(-1e9), 0.0);
  for (double x = 1e-300; x < 1e300; x *= 1.37)
    EXPECT_NEAR(fixed_log(x), std::log(x), 4e-15 * std::fabs(std::log(x)));
  EXPECT_EQ(fixed_log(1.0), 0.0);
}

TEST(Bf16, WidensAndRoundsBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_bf16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(value)))) << bits;
    } else {
      EXPECT_EQ(to_bf16(value), bits);
    }
  }
  EXPECT_EQ(to_bf16(0x1.01p0f), 0x3f80);                          // a tie, down to even
  EXPECT_EQ(to_bf16(0x1.03p0f), 0x3f82);                          // a tie, up to even
  EXPECT_EQ(to_bf16(0x1.010002p0f), 0x3f81);                      // just above the tie
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);  // rounds to infinity
}

TEST(Digest, IsFnv1a) {
  EXPECT_EQ(fnv1a("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar", 6), 0x85944171f73967e8u);
}

TEST(Digits, AreWholeAndInRange) {
  const Digits digits = read_digits(TRAINER_DATA);
  ASSERT_EQ(digits.count(), 1797u);
  ASSERT_EQ(digits.pixels.size(), 1797u * kPixels);
  for (const float p : digits.pixels)
    EXPECT_TRUE(p >= 0.0f && p <= 1.0f);
  for (std::uint8_t digit = 0; digit < kClasses; ++digit) {
    EXPECT_GT(std::count(digits.labels.begin(), digits.labels.end(), digit), 170) << int{digit};
  }
}

TEST(Digits, AMissingOrDamagedFileIsNamed) {
  EXPECT_THROW(read_digits("/nowhere/digits.csv"), std::runtime_error);
  EXPECT_THROW(read_digits(__FILE__), std::runtime_error);
}

TEST(Sampler, GivesEachImageOnceAnEpochInAnyOrderOfAsking) {
  constexpr std::size_t kImages = 100;
  Sampler forward(7, kImages), backward(7, kImages);
  std::vector<std::size_t> walk(3 * kImages), back(3 * kImages);
  for (std::size_t i = 0; i < walk.size(); ++i)
    walk[i] = forward.image_at(i);
  for (std::size_t i = walk.size(); i-- > 0;)
    back[i] = backward.image_at(i);
  EXPECT_EQ(walk, back);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::size_t> one(walk.begin() + epoch * 100, walk.begin() + (epoch + 1) * 100);
    EXPECT_EQ(std::equal(one.begin(), one.end(), walk.begin()), epoch == 0);
    std::sort(one.begin(), one.end());
    for (std::size_t i = 0; i < kImages; ++i)
      EXPECT_EQ(one[i], i);
  }
}

/// Central differences of the loss, for parameters of every layer.
TEST(Model, TheGradientIsTheSlopeOfTheLoss) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  const Digits digits = read_digits(TRAINER_DATA);
  std::mt19937 random(seed);
  Model model(3);
  std::vector<float> gradient(parameter_count(), 0.0f), scratch(parameter_count());
  model.add_gradient(digits.image(5), digits.labels[5], 1.0f, gradient);
  const auto loss_at = [&](std::size_t p, float change) {
    const float kept = model.parameters()[p];
    model.parameters()[p] = kept + change;
    const double loss = model.add_gradient(digits.image(5), digits.labels[5], 1.0f, scratch);
    model.parameters()[p] = kept;
    return loss;
  };
  for (int i = 0; i < 300; ++i) {
    const std::size_t p =
        i < 10 ? parameter_count() - 1 - static_cast<std::size_t>(i) : random() % parameter_count();
    // Where a step crosses a ReLU's kink, the slopes of the two sides differ: the gradient is one of them.
    constexpr float kStep = 1.0f / 1024;
    const double here = loss_at(p, 0.0f);
    const double forward = (loss_at(p, kStep) - here) / kStep, backward = (here - loss_at(p, -kStep)) / kStep;
    const double tolerance = 2e-3 + 0.02 * std::max(std::fabs(forward), std::fabs(backward));
    EXPECT_GE(gradient[p], std::min(forward, backward) - tolerance) << "parameter " << p;
    EXPECT_LE(gradient[p], std::max(forward, backward) + tolerance) << "parameter " << p;
  }
}

}  // namespace
}  // namespace trainer
