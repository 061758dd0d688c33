// SPDX-License-Identifier: Apache-2.0
// Pieces, chunks, alignment, lengths: what the definition promises of sums and digests.
#include "fingerprint/digest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::fingerprint {
namespace {

using Random = std::mt19937_64;

std::uint64_t new_seed() {
  const char* const chosen = std::getenv("DETCCL_TEST_SEED");
  const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
  std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
  return seed;
}

std::vector<std::uint8_t> random_bytes(Random& random, std::size_t n) {
  std::vector<std::uint8_t> bytes(n);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

Sums sums_of(const std::vector<std::uint8_t>& data, std::uint64_t first_word = 0) {
  Sums sums;
  add(sums, data.data(), data.size(), first_word);
  return sums;
}

TEST(Digest, PiecesInAnyOrderAddUp) {
  Random random(new_seed());
  for (int round = 0; round < 200; ++round) {
    const auto data = random_bytes(random, random() % 3000);
    const std::uint64_t first_word = random() >> (4 + random() % 60);
    std::vector<std::size_t> cuts = {0, data.size()};
    for (std::size_t pieces = random() % 6; pieces > 0 && data.size() >= 16; --pieces)
      cuts.push_back(random() % (data.size() / 16) * 16);
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> order(cuts.size() - 1);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    Sums sums;
    for (const std::size_t i : order)
      add(sums, data.data() + cuts[i], cuts[i + 1] - cuts[i], first_word + cuts[i] / 16);
    EXPECT_EQ(sums, sums_of(data, first_word));
  }
}

TEST(Digest, AlignmentDoesNotMatter) {
  Random random(new_seed());
  const auto data = random_bytes(random, 1000);
  for (std::size_t past = 0; past < 64; ++past) {
    std::vector<std::uint8_t> moved(past + data.size());
    std::memcpy(moved.data() + past, data.data(), data.size());
    EXPECT_EQ(digest(moved.data() + past, data.size()), digest(data.data(), data.size())) << past;
  }
}

TEST(Digest, ChunkTableNamesTheChunkThatDiffers) {
  Random random(new_seed());
  for (int round = 0; round < 200; ++round) {
    const std::size_t bytes = 1 + random() % 5000, chunk = 16 * (1 + random() % 40);
    auto data = random_bytes(random, bytes);
    std::vector<Sums> before(chunk_count(bytes, chunk)), after(before.size());
    chunks(data.data(), bytes, chunk, before.data());
    Sums all;
    for (const Sums& entry : before)
      all += entry;
    EXPECT_EQ(all, sums_of(data));
    const std::size_t at = random() % bytes;
    data[at] ^= static_cast<std::uint8_t>(1U << random() % 8);
    chunks(data.data(), bytes, chunk, after.data());
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i] != after[i], i == at / chunk) << "chunk " << i << ", byte " << at;
  }
}

TEST(Digest, LengthsOfZeroesDiffer) {
  const std::vector<std::uint8_t> zeros(20000);
  std::set<std::string> seen;
  for (std::size_t bytes = 0; bytes <= zeros.size(); ++bytes)
    seen.insert(to_string(digest(zeros.data(), bytes)));
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

TEST(Digest, FinishIsOneToOne) {
  // Differences in few bits of the sums or of the length, all pairs: none may meet another.
  std::set<std::string> seen;
  std::size_t made = 0;
  for (const std::uint64_t bytes : {0U, 1U, 16U, 17U, 1U << 20}) {
    for (int i = 0; i < 128; ++i) {
      for (int j = 0; j < 128; ++j) {
        Sums sums;
        (i < 64 ? sums.a : sums.b) ^= std::uint64_t{1} << i % 64;
        (j < 64 ? sums.a : sums.b) ^= std::uint64_t{1} << j % 64;
        if (j > i) continue;
        if (j == i && i != 0) continue;  // no bit at all, once
        seen.insert(to_string(finish(sums, bytes)));
        ++made;
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

TEST(Digest, KeysOfDistantWords) {
  Random random(new_seed());
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t from = random() >> 4, distance = random() >> (4 + random() % 60);
    Key key = key_at(from);
    key += step(distance);
    EXPECT_TRUE(key.value == key_at(from + distance).value) << from << " " << distance;
  }
}

TEST(Digest, TextAndBack) {
  Random random(new_seed());
  for (int round = 0; round < 100; ++round) {
    const Digest d{random() >> random() % 64, random() >> random() % 64};
    EXPECT_EQ(parse(to_string(d)), d);
  }
  EXPECT_EQ(to_string(Digest{0x123, 0xffffffffffffffff}), "0000000000000123ffffffffffffffff");
  for (const char* const wrong :
       {"", "0123", "0000000000000123fffffffffffffffF", "0000000000000123fffffffffffffff",
        "0000000000000123fffffffffffffffff", "0x00000000000123ffffffffffffffff"})
    EXPECT_FALSE(parse(wrong)) << wrong;
}

}  // namespace
}  // namespace detccl::fingerprint
