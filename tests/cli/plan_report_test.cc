// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace detccl::cli {
namespace {

plan::Spec four_ranks() {
  plan::Spec spec;
  spec.schedule = plan::Schedule::gather;
  spec.ranks = 4;
  spec.count = 8;
  return spec;
}

TEST(PlanReport, ProofThatFails) {
  PlanReport report = report_plan(four_ranks(), contract::DataType::float32, std::nullopt, false);
  EXPECT_EQ(exit_status(report), 0);
  report.proof = plan::Proof{false, "rank 0, stage 0: a fold without operands"};
  EXPECT_EQ(exit_status(report), 1);
  EXPECT_NE(to_text(report).find("NOT PROVED: rank 0, stage 0: a fold without operands\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["proved"], false);
  EXPECT_EQ(json["failure"], "rank 0, stage 0: a fold without operands");
}

TEST(PlanReport, ProofThatSucceeds) {
  const PlanReport report = report_plan(four_ranks(), contract::DataType::float32, 2, true);
  EXPECT_EQ(exit_status(report), 0);
  EXPECT_EQ(report.of_rank.bytes_sent, 3 * 32u);
  EXPECT_EQ(report.least.peers, 3u);
  EXPECT_NE(to_text(report).find("rank 2"), std::string::npos);
}

}  // namespace
}  // namespace detccl::cli
