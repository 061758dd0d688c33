// SPDX-License-Identifier: Apache-2.0
// The reference evaluator against the oracle's vectors: those committed, or the file that the environment
// variable DETCCL_TEST_VECTORS names.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "contract/reference.h"

namespace detccl::contract {
namespace {

std::uint64_t bits(const nlohmann::json& hex) {
  return std::stoull(hex.get<std::string>(), nullptr, 16);
}

void check(const nlohmann::json& vector) {
  const auto contract = parse_contract(vector.at("contract").get<std::string>());
  const auto type = parse_data_type(vector.at("type").get<std::string>());
  const auto op = parse_op(vector.at("op").get<std::string>());
  ASSERT_TRUE(contract && type && op);
  const std::uint64_t scalar = vector.contains("scalar") ? bits(vector["scalar"]) : 0;
  const auto& inputs = vector.at("inputs");
  ASSERT_EQ(inputs.size(), vector.at("n").get<std::size_t>());
  for (std::size_t i = 0; i < vector.at("expected").size(); ++i) {
    std::vector<std::uint64_t> values;
    for (const auto& row : inputs)
      values.push_back(bits(row.at(i)));
    EXPECT_EQ(reduce_element(*contract, *type, *op, values, scalar), bits(vector["expected"][i]))
        << "element " << i;
  }
}

TEST(Vectors, ReferenceEvaluatorAgreesWithTheOracle) {
  const char* const chosen = std::getenv("DETCCL_TEST_VECTORS");
  const std::string path = chosen != nullptr ? chosen : DETCCL_VECTORS_FILE;
  std::ifstream file(path);
  ASSERT_TRUE(file.is_open()) << path;
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE(line);
    check(nlohmann::json::parse(line));
  }
  EXPECT_GE(cases, chosen != nullptr ? 1 : 800);
}

}  // namespace
}  // namespace detccl::contract
