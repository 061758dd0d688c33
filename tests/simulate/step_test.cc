// SPDX-License-Identifier: Apache-2.0
// Training steps, the reports, and fits to measured times.
#include "simulate/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "simulate/published.h"
#include "simulate/report.h"
#include "simulate/validate.h"

namespace detccl::simulate {
namespace {

constexpr const char* kStep = R"({"name": "small", "forward_ms": 1, "backward_ms": 10, "optimizer_ms": 2,
  "buckets": [{"bytes": 4194304, "ready_ms": 2, "every_ms": 4, "count": 2},
              {"bytes": 1048576, "ready_ms": 9.5, "collective": "all_reduce"}]})";

TEST(Step, ReductionsHideBehindTheBackwardPass) {
  const Step step = read_step(kStep);
  // Ready at 2, 6, 9.5 ms.
  const StepTime hidden = step_time(step, {1e-3, 0.5e-3});
  EXPECT_NEAR(hidden.step, 13e-3, 1e-12);
  EXPECT_NEAR(hidden.reduced, 2.5e-3, 1e-12);
  // 2 to 7, 7 to 12, 12 to 13 ms: 3 ms after the backward pass.
  const StepTime late = step_time(step, {5e-3, 1e-3});
  EXPECT_NEAR(late.exposed, 3e-3, 1e-12);
  EXPECT_NEAR(late.step, 16e-3, 1e-12);
}

TEST(Step, RejectsWhatIsNone) {
  EXPECT_THROW(read_step("{}"), std::invalid_argument);
  EXPECT_THROW(read_step(R"({"buckets": [{"bytes": 0}]})"), std::invalid_argument);
  EXPECT_THROW(read_step(R"({"backward_ms": -1, "buckets": []})"), std::invalid_argument);
}

TEST(Step, BucketsMayBeOfAPartOfTheMachine) {
  Options o;
  o.platform.parameters = default_parameters("h200");
  o.platform.domains = 4;
  const Step step = read_step(
      R"({"backward_ms": 1, "buckets": [{"bytes": 4194304, "nodes": 3, "gpus": 1}, {"bytes": 4194304}]})");
  const StepReport report = predict_step(step, {plan::Schedule::direct}, o);
  o.platform.domains = 3;
  o.platform.gpus = 1;
  const Case c{plan::Collective::reduce_scatter, contract::DataType::bfloat16, 4 << 20};
  EXPECT_DOUBLE_EQ(report.bests[0].seconds, predict(c, plan::Schedule::direct, o)->seconds);
  EXPECT_NE(report.bests[1].seconds, report.bests[0].seconds);
}

TEST(Reports, SayThatTheyArePredicted) {
  Study s;
  s.options.platform.parameters = default_parameters("h200");
  s.options.platform.gpus = 4;
  s.schedules = {plan::Schedule::direct, plan::Schedule::tree};
  s.rows.push_back(study({plan::Collective::all_reduce, contract::DataType::bfloat16, 1 << 20}, s.schedules,
                         s.options, true));
  s.step = predict_step(read_step(kStep), s.schedules, s.options);
  EXPECT_NE(to_text(s).find("PREDICTED"), std::string::npos);
  EXPECT_NE(to_html(s).find("Predicted, not measured"), std::string::npos);
  EXPECT_NE(to_html(s).find("<polyline"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(s));
  EXPECT_EQ(json.at("predicted"), true);
  EXPECT_EQ(json.at("rows").size(), 1u);
  EXPECT_GT(json.at("rows")[0].at("schedules").at("direct").at("us"), 0);
  EXPECT_NEAR(json.at("step").at("overhead_percent"), 100 * s.step->overhead(), 1e-9);
}

TEST(Validate, PublishedTimesAreNotFitted) {
  const std::string file =
      R"({"format": "detccl-published-1", "runs": [{"series": "s", "source": "u", "nodes": 2,
    "gpus": 4, "port_gb_s": 25, "algorithm": "ring", "rows": [{"bytes": 1073741824, "us": 20000}]}]})";
  ASSERT_TRUE(is_published(file));
  const Validation v = validate("f", file, 0);
  ASSERT_EQ(v.fits.size(), 1u);
  // 14 steps of an eighth, in four rings of a port each.
  EXPECT_NEAR(v.fits[0].points.at(0).predicted, 14 * 1073741824.0 / 32 / 25e9, 0.3e-3);
  EXPECT_EQ(errors(v.fits[0].points, false).points, 1u);
  EXPECT_FALSE(is_published("{}"));
  EXPECT_THROW(validate_published("f", "{}"), std::invalid_argument);
}

TEST(Validate, FindsWhatTimesWereMadeOf) {
  const auto [a, b] = fit({1, 1}, [](double x, double y) {
    return std::pow(std::log(x / 20), 2) + std::pow(std::log(y / 3e9), 2);
  });
  EXPECT_NEAR(a / 20, 1, 0.03);
  EXPECT_NEAR(b / 3e9, 1, 0.03);
}

/// Times that follow the model: those that are not fitted are predicted too.
TEST(Validate, PredictsPointsThatWereNotFitted) {
  nlohmann::json file = {{"format", "detccl-perf-2"},
                         {"collective", "all_reduce"},
                         {"ranks", 4},
                         {"memory", "gpu"},
                         {"against", "native"}};
  for (int shift = 10; shift <= 26; shift += 2) {
    const double bytes = std::exp2(shift), ring = 30 + 2 * 3 * bytes / 10e9 * 1e6;
    file["results"].push_back({{"bytes", std::uint64_t{1} << shift},
                               {"datatype", "bfloat16"},
                               {"schedule", "auto"},
                               {"time_us", {{"median", 2 * ring}}},
                               {"peer_time_us", {{"median", ring}}}});
  }
  const Validation v = validate("file", file.dump(), 0);
  ASSERT_EQ(v.fits.size(), 2u);
  const Errors native = errors(v.fits[1].points, false);
  EXPECT_EQ(native.points, 4u);
  EXPECT_LT(native.most, 0.02);
  EXPECT_NEAR(v.fits[1].bandwidth / 10e9, 1, 0.03);
  EXPECT_THROW(validate("file", "{}", 0), std::invalid_argument);
}

}  // namespace
}  // namespace detccl::simulate
