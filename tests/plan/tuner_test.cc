// SPDX-License-Identifier: Apache-2.0
// The cost model: its counts against plans, tuning files, the fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "plan/summary.h"
#include "plan/tuner/cost.h"
#include "plan/tuner/file.h"
#include "plan/tuner/fit.h"
#include "specs.h"

namespace detccl::plan::testing {
namespace {

using namespace tuner;

std::string problem(const std::string& text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TuningFile, IsReadAsItWasWritten) {
  for (const char* name : {"host", "h200", "gb200"}) {
    const Coefficients c = built_in(name);
    const Coefficients read = parse(write(c, "two\nremarks"));
    for (const Figure& figure : figures()) {
      EXPECT_NEAR(value(figure, read), value(figure, c), 1e-5 * std::abs(value(figure, c))) << figure.key;
    }
    EXPECT_EQ(read.source, c.source);
    EXPECT_EQ(hash(parse(write(read))), hash(read));
  }
  EXPECT_THROW(built_in("b100"), std::invalid_argument);
}

TEST(TuningFile, HashIsOfTheFiguresAlone) {
  const std::string text = write(built_in("h200"), "a remark");
  const std::uint64_t all = hash(parse(text));
  EXPECT_EQ(hash(parse(replaced(text, "a remark", "another"))), all);
  EXPECT_EQ(hash(parse(replaced(text, "source ", "source of "))), all);
  EXPECT_EQ(hash(parse(replaced(text, "overlap 1\n", "\r\n") + "\toverlap   1.0e0 # at the end\r\n")), all);
  for (const Figure& figure : figures()) {
    Coefficients other = parse(text);
    figure.of(other) = value(figure, other) == figure.least * figure.unit ? figure.most * figure.unit
                                                                          : figure.least * figure.unit;
    EXPECT_NE(hash(other), all) << figure.key;
  }
}

TEST(TuningFile, WhatIsWrongIsNamed) {
  const std::string text = write(built_in("h200"));
  EXPECT_EQ(problem(text), "");
  EXPECT_EQ(problem(""), "no line 'detccl-tuning 1'");
  EXPECT_EQ(problem("detccl-tuning 2\n"), "line 1: 'detccl-tuning 2' where 'detccl-tuning 1' has to be");
  EXPECT_EQ(problem(replaced(text, "step_us 8.4\n", "")), "'step_us' is missing");
  EXPECT_EQ(problem(text + "step_us 1\n"), "line 28: 'step_us' for the second time; it is in line 4 too");
  EXPECT_EQ(problem(text + "steps_us 1\n"), "line 28: no key 'steps_us'");
  EXPECT_EQ(problem(text + "source x\n"), "line 28: 'source' for the second time");
  EXPECT_EQ(problem(text + std::string(100, '\x01')), "line 28: no key '" + std::string(40, '?') + "…'");
  for (const char* bad : {"", "x", "1x", "1 2", "nan", "inf", "1e999", "-1", "0x10", "+1", "1,5"}) {
    const std::string line = problem(replaced(text, "near_gb_s 370.8", std::string("near_gb_s ") + bad));
    EXPECT_EQ(line,
              std::string("line 7: 'near_gb_s' is '") + bad + "', which is no number from 1e-06 to 1e+06");
  }
  EXPECT_EQ(problem(std::string(kMostFileBytes + 1, '#')), "more than 65536 bytes");
  try {
    read_file("/there/is/none");
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "/there/is/none cannot be read");
  }
  EXPECT_THROW(read_file("/"), std::invalid_argument);
}

Question question_of(const Spec& spec, contract::DataType type) {
  const std::uint64_t shards = spec.collective == Collective::reduce_scatter ? spec.ranks : 1;
  return {spec.collective, spec.contract, type, spec.ranks, 1, spec.count * shards * contract::size_of(type)};
}

struct Sums {
  double steps = 0, messages = 0, bytes = 0;
};

/// All that a rank does by the closed forms, the one that does most.
Sums sums(const Work& work) {
  Sums all;
  const auto add = [&all](const Round& round, double times) {
    all.steps += round.steps * times;
    all.messages += round.messages * times;
    all.bytes += (round.near_bytes + round.far_bytes) * times;
  };
  if (work.chained) {
    add(work.busiest, work.pieces);
  } else {
    for (const Round& round : work.rounds)
      add(round, 1);
  }
  return all;
}

TEST(Work, CountsAreThoseOfThePlans) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 400; ++i) {
    Spec spec = random_spec(random, 70);
    if (spec.ranks < 2) continue;
    spec.count = pick(random, 1, 4) * 64 * spec.ranks;  // nothing is lost by rounding
    spec.stride = spec.collective == Collective::reduce_scatter ? spec.count : 0;
    const bool chained = spec.schedule.kind == Kind::ring || spec.schedule.kind == Kind::tree;
    const auto type = coin(random) ? contract::DataType::bfloat16 : contract::DataType::float32;
    double bytes = 0, sum = 0, everything = 0;
    for (std::uint32_t rank = 0; rank < spec.ranks; ++rank) {
      const Cost c = cost(spec, rank, type);
      bytes = std::max({bytes, static_cast<double>(c.bytes_sent), static_cast<double>(c.bytes_received)});
      everything += static_cast<double>(c.bytes_sent);
    }
    const Question q = question_of(spec, type);
    const Work done = work(q, spec.schedule, static_cast<double>(q.bytes));
    const Sums counted = sums(done);
    const bool exact = spec.schedule.kind == Kind::gather || spec.schedule.kind == Kind::direct;
    const bool even = (spec.ranks & (spec.ranks - 1)) == 0 && spec.contract.block == 0;
    // Chains: without the ranks at their ends, and partials where some are raw or rounded. What is ragged is
    // rounded up: the busiest rank of each round may be another one.
    // In a reduce only the root has all of it, in a reduce_scatter some have their shard already.
    const bool all = spec.collective == Collective::all_reduce;
    const double most = exact ? 1.001 : chained ? 4 : even ? (all ? 1.001 : 2.1) : (all ? 3.2 : 6);
    const double least = exact ? 0.999 : 0.45;
    EXPECT_LE(counted.bytes, bytes * most) << describe(spec);
    EXPECT_GE(counted.bytes, bytes * least) << describe(spec);
    if (const auto in_step = steps(spec); in_step && !chained) {
      EXPECT_EQ(counted.steps, in_step->folding + in_step->moving) << describe(spec);
    }
    sum = (done.mean.near_bytes + done.mean.far_bytes) * done.pieces * spec.ranks;
    if (chained && spec.contract.block == 0 && spec.collective == Collective::all_reduce) {
      EXPECT_NEAR(sum, everything, 0.6 * everything) << describe(spec);
    }
  }
}

TEST(Work, OfPowersOfTwoIsExact) {
  for (const Schedule& schedule :
       {Schedule::halving, halving_by(8), hier(Kind::direct, Kind::halving, 8),
        hier(Kind::direct, Kind::halving, 8, 8), hier(Kind::direct, Kind::direct, 4)}) {
    for (const std::uint32_t ranks : {2u, 4u, 8u, 16u, 64u, 256u}) {
      for (const auto type : {contract::DataType::bfloat16, contract::DataType::float32}) {
        Spec spec;
        spec.schedule = schedule;
        spec.ranks = ranks;
        spec.count = std::uint64_t{256} * ranks;
        const Question q = question_of(spec, type);
        const Sums counted = sums(work(q, schedule, static_cast<double>(q.bytes)));
        const Cost c = cost(spec, ranks / 3, type);
        EXPECT_NEAR(counted.bytes, static_cast<double>(c.bytes_sent), 1) << describe(spec);
        std::size_t messages = 0;
        for (const Stage& stage : build(spec, ranks / 3).stages)
          messages += stage.sends.size() + stage.receives.size();
        EXPECT_NEAR(counted.messages, static_cast<double>(messages), 0.1) << describe(spec);
      }
    }
  }
}

TEST(Cost, IsFiniteAndGrowsWithTheMessage) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    Spec spec = random_spec(random, coin(random) ? 40 : 20000);
    Question q = question_of(spec, contract::DataType::float16);
    q.group = static_cast<std::uint32_t>(std::uint64_t{1} << pick(random, 0, 6));
    q.bytes = std::uint64_t{1} << pick(random, 1, 34);
    const Coefficients c = built_in(coin(random) ? "host" : "h200");
    const auto chunk = static_cast<double>(std::uint64_t{1} << pick(random, 12, 27));
    const double time = predict(q, spec.schedule, chunk, c).total();
    EXPECT_TRUE(std::isfinite(time) && time >= 0) << describe(spec);
    if (spec.ranks > 1) {
      EXPECT_GT(time, 0) << describe(spec);
    }
    q.bytes *= 4;
    EXPECT_GE(predict(q, spec.schedule, chunk, c).total(), time) << describe(spec);
  }
}

TEST(Fit, FindsTheFiguresThatTimesWereMadeFrom) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  Random random(seed);
  Coefficients truth = built_in("host");
  truth.step *= 3;
  truth.near.bandwidth /= 2;
  truth.fold_bandwidth *= 2;
  truth.cache = 1 << 20;
  truth.beyond_cache = 2;
  truth.factors[static_cast<std::size_t>(Kind::tree)] = 1.5;
  std::vector<Sample> samples;
  for (const Schedule& schedule : {Schedule::gather, Schedule::direct, Schedule::tree, Schedule::halving}) {
    for (std::uint64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
      for (const std::uint64_t chunk : {std::uint64_t{256} << 10, std::uint64_t{2} << 20}) {
        Sample s{{Collective::all_reduce, {}, contract::DataType::float32, 4, 4, bytes},
                 schedule,
                 static_cast<double>(std::min(chunk, bytes)),
                 0};
        const double noise = 0.98 + 0.04 * static_cast<double>(pick(random, 0, 100)) / 100;
        s.seconds = predict(s.question, s.schedule, s.chunk, truth).total() * noise;
        samples.push_back(s);
      }
    }
  }
  const Coefficients c = fit(samples, built_in("host"));
  std::vector<double> errors;
  for (const Sample& s : samples)
    errors.push_back(std::abs(error(s, c)));
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.08);
  EXPECT_LT(errors.back(), 0.5);
}

}  // namespace
}  // namespace detccl::plan::testing
