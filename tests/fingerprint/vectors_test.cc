// SPDX-License-Identifier: Apache-2.0
// The fingerprint against reference.py's vectors: those of data/vectors.jsonl, or of the file that the
// environment variable DETCCL_TEST_VECTORS names. A second set comes from torch itself (torch_hash.py).
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fingerprint/digest.h"
#include "fingerprint/torch_hash.h"

namespace detccl::fingerprint {
namespace {

using nlohmann::json;

std::uint64_t number(const json& hex) {
  return std::stoull(hex.get<std::string>(), nullptr, 16);
}

Sums sums_of(const json& pair) {
  return {number(pair.at(0)), number(pair.at(1))};
}

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<json> lines_of(const char* variable, const char* default_file) {
  const char* const chosen = std::getenv(variable);
  std::ifstream in(chosen != nullptr ? chosen : default_file);
  std::vector<json> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(json::parse(line));
  return lines;
}

TEST(Vectors, SumsDigestsAndChunkTables) {
  const auto cases = lines_of("DETCCL_TEST_VECTORS", DETCCL_VECTORS_FILE);
  ASSERT_GE(cases.size(), 60U);
  for (const json& c : cases) {
    const auto payload = bytes_of(c.at("hex"));
    ASSERT_EQ(payload.size(), c.at("bytes").get<std::size_t>());
    Sums sums;
    add(sums, payload.data(), payload.size(), c.at("first_word").get<std::uint64_t>());
    EXPECT_EQ(sums, sums_of(c.at("sums"))) << c;
    EXPECT_EQ(to_string(digest(payload.data(), payload.size())), c.at("digest")) << c;
    const auto chunk_bytes = c.at("chunk_bytes").get<std::size_t>();
    std::vector<Sums> table(chunk_count(payload.size(), chunk_bytes));
    ASSERT_EQ(table.size(), c.at("chunks").size());
    chunks(payload.data(), payload.size(), chunk_bytes, table.data());
    for (std::size_t i = 0; i < table.size(); ++i)
      EXPECT_EQ(table[i], sums_of(c.at("chunks").at(i))) << "chunk " << i << " of " << c;
  }
}

TEST(Vectors, TorchHashes) {
  const auto cases = lines_of("DETCCL_TEST_TORCH_VECTORS", DETCCL_TORCH_VECTORS_FILE);
  ASSERT_GE(cases.size(), 60U);
  for (const json& c : cases) {
    const auto type = parse_torch_type(c.at("dtype").get<std::string>());
    ASSERT_TRUE(type) << c;
    const auto data = bytes_of(c.at("hex"));
    EXPECT_EQ(torch_hash(*type, data.data(), data.size() / size_of(*type)), number(c.at("hash"))) << c;
  }
}

}  // namespace
}  // namespace detccl::fingerprint
