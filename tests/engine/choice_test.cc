// SPDX-License-Identifier: Apache-2.0
// Choices from coefficients: the same on all ranks, within all limits, and without a trace in the bits.
#include "engine/choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "virtual_ranks.h"

namespace detccl::test {
namespace {

using engine::Choice;
using engine::Chooser;
using engine::Settings;
using plan::tuner::Coefficients;

/// Anything that a file may hold.
std::shared_ptr<const Coefficients> random_coefficients(Random& random) {
  auto c = std::make_shared<Coefficients>();
  for (const plan::tuner::Figure& figure : plan::tuner::figures()) {
    const double least = std::max(figure.least, 1e-3), most = std::min(figure.most, 1e4);
    const double where = static_cast<double>(random() % 1001) / 1000;
    const bool lowest = random() % 4 == 0;
    figure.of(*c) = (lowest ? figure.least : least * std::pow(most / least, where)) * figure.unit;
  }
  return c;
}

class Choices : public testing::Test {
 protected:
  Choices() : seed_(std::random_device{}()), random_(seed_) { std::printf("seed %u\n", seed_); }
  unsigned seed_;
  Random random_;
};

TEST_F(Choices, CoefficientsNeverChangeTheBits) {
  std::set<std::string> chosen;
  for (int i = 0; i < 60; ++i) {
    Case c;
    c.ranks = static_cast<std::uint32_t>(2 + random_() % 11);
    randomise(c, random_, i % 10 == 0 ? 100000 : 3000);
    const auto contracts = contracts_for(plan::Schedule::gather);
    c.settings = {};
    c.settings.contract = contracts[random_() % contracts.size()];
    if (random_() % 3 == 0) c.settings.chunk_bytes = 64 + random_() % 5000;
    if (random_() % 3 == 0) c.settings.scratch_limit = 3000 + random_() % 100000;
    const Results before = run_virtual(c);
    ASSERT_EQ(before.failure, "") << describe(c);
    for (int k = 0; k < 4; ++k) {
      c.settings.group = 1u << random_() % 4;
      c.settings.coefficients = random_coefficients(random_);
      // Every rank asks a planner of its own: if they chose differently, this would not end well.
      const Results after = run_virtual(c);
      ASSERT_EQ(after.failure, "") << describe(c);
      EXPECT_TRUE(after.outputs == before.outputs) << describe(c);
      engine::Reduction call;
      call.collective = c.collective;
      call.type = c.type;
      call.count = c.count;
      chosen.insert(plan::name(Chooser(c.settings, c.ranks).choose(call).schedule));
    }
  }
  EXPECT_GT(chosen.size(), 3u) << "the coefficients made hardly any difference";
}

TEST_F(Choices, AreThoseOfTheRuleWithoutCoefficients) {
  for (int i = 0; i < 1000; ++i) {
    Settings settings = random_() % 2 == 0 ? Settings() : engine::gpu_defaults();
    engine::Reduction call;
    call.collective = static_cast<plan::Collective>(random_() % 3);
    call.type = static_cast<contract::DataType>(random_() % 12);
    call.count = 1 + random_() % (std::uint64_t{1} << random_() % 30);
    const auto ranks = static_cast<std::uint32_t>(1 + random_() % 40);
    const std::uint64_t shards = call.collective == plan::Collective::reduce_scatter ? ranks : 1;
    const Choice choice = Chooser(settings, ranks).choose(call);
    EXPECT_EQ(choice.schedule,
              choose_schedule(settings, ranks, call.count * shards * contract::size_of(call.type)));
    EXPECT_EQ(choice.chunk, chunk_elements(settings, call.collective, choice.schedule, ranks, call.type));
    EXPECT_EQ(choice.wave_bytes, engine::wanted_chunk(settings, choice.schedule));
  }
}

TEST_F(Choices, KeepToWhatIsGivenAndPossible) {
  for (int i = 0; i < 1000; ++i) {
    Settings settings = random_() % 2 == 0 ? Settings() : engine::gpu_defaults();
    const auto contracts = contracts_for(plan::Schedule::gather);
    settings.contract = contracts[random_() % contracts.size()];
    settings.coefficients = random_coefficients(random_);
    settings.group = 1u << random_() % 5;
    if (random_() % 4 == 0) settings.schedule = plan::Schedule::direct;
    if (random_() % 4 == 0) settings.chunk_bytes = 1u << (6 + random_() % 20);
    engine::Reduction call;
    call.collective = static_cast<plan::Collective>(random_() % 3);
    call.type = static_cast<contract::DataType>(random_() % 12);
    call.count = 1 + random_() % (std::uint64_t{1} << random_() % 34);
    const auto ranks = static_cast<std::uint32_t>(2 + random_() % (random_() % 4 == 0 ? 5000 : 40));
    const Choice choice = Chooser(settings, ranks).choose(call);
    EXPECT_TRUE(plan::supports(choice.schedule, settings.contract));
    if (settings.schedule) {
      EXPECT_EQ(choice.schedule, *settings.schedule);
    }
    // As much as a chunk of that schedule may be, and no more.
    Settings wanted = settings;
    wanted.schedule = choice.schedule;
    wanted.chunk_bytes = settings.chunk_bytes != 0 ? settings.chunk_bytes : std::size_t{128} << 20;
    EXPECT_LE(choice.chunk, chunk_elements(wanted, call.collective, choice.schedule, ranks, call.type));
    EXPECT_GE(choice.chunk, 1u);
    EXPECT_TRUE(std::isfinite(choice.predicted));
  }
}

TEST_F(Choices, AreWorthIt) {
  for (int i = 0; i < 300; ++i) {
    Settings settings;
    const auto c = random_coefficients(random_);
    const auto q = engine::question(settings, static_cast<plan::Collective>(random_() % 3),
                                    static_cast<std::uint32_t>(2 + random_() % 30),
                                    contract::DataType::float32, std::uint64_t{4} << random_() % 26);
    const auto all = engine::options(settings, *c, q);
    const std::size_t best = engine::best(all);
    EXPECT_EQ(all.front().choice.schedule, choose_schedule(settings, q.ranks, q.bytes));
    if (best != 0) {
      EXPECT_LT(all[best].choice.predicted, all.front().choice.predicted * (1 - all[best].gain));
    }
    for (const engine::Option& o : all) {
      EXPECT_GE(o.gain, std::max(engine::kGain, c->errors[static_cast<std::size_t>(o.choice.schedule.kind)]));
      EXPECT_GE(o.choice.predicted,
                std::min(all[best].choice.predicted, all.front().choice.predicted * (1 - o.gain)));
    }
  }
}

TEST_F(Choices, AreToldOncePerCollectiveTypeAndSize) {
  Settings settings;
  settings.coefficients = random_coefficients(random_);
  std::map<std::string, int> told;
  settings.on_choice = [&told](const engine::Reduction& call, const Choice& choice) {
    ++told[std::string(plan::name(call.collective)) + std::to_string(call.count)];
    EXPECT_GT(choice.predicted, 0);
  };
  Chooser chooser(settings, 4);
  engine::Reduction call;
  for (int again = 0; again < 3; ++again) {
    for (call.count = 256; call.count < 512; ++call.count)
      chooser.choose(call);
    call.count = 1 << 20;
    chooser.choose(call);
  }
  call.collective = plan::Collective::reduce;
  chooser.choose(call);
  EXPECT_EQ(told, (std::map<std::string, int>{
                      {"all_reduce256", 1}, {"all_reduce1048576", 1}, {"reduce1048576", 1}}));
}

TEST_F(Choices, ManyCallsOfSmallMessagesStayInOneWave) {
  Settings settings = engine::gpu_defaults();
  settings.coefficients = random_coefficients(random_);
  engine::Reduction call;
  call.count = 1000;
  EXPECT_GE(Chooser(settings, 8).choose(call).wave_bytes, std::uint64_t{1} << 20);
}

TEST_F(Choices, ACallMayHaveAScheduleOfItsOwn) {
  Settings settings;
  settings.coefficients = random_coefficients(random_);
  Chooser chooser(settings, 4);
  engine::Reduction call;
  call.count = 1000;
  const Choice before = chooser.choose(call);
  call.schedule = plan::Schedule::halving;
  EXPECT_EQ(chooser.choose(call).schedule, plan::Schedule::halving);
  call.schedule.reset();
  EXPECT_EQ(chooser.choose(call).schedule, before.schedule);
}

}  // namespace
}  // namespace detccl::test
