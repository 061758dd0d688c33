// SPDX-License-Identifier: Apache-2.0
#include "recorder/chunks.h"

#include <vector>

#include <gtest/gtest.h>

#include "fingerprint/digest.h"
#include "trace/writer.h"

namespace detccl::recorder {
namespace {

TEST(Chunks, AreAsManyAsATableHasAtMost) {
  const auto expect = [](std::uint64_t bytes, std::uint64_t wanted, std::uint64_t chunk,
                         std::uint64_t count) {
    const Chunks chunks = chunks_of(bytes, wanted);
    EXPECT_EQ(chunks.bytes, chunk) << bytes << " in " << wanted;
    EXPECT_EQ(chunks.count, count) << bytes << " in " << wanted;
  };
  constexpr std::uint64_t kMost = trace::Writer::kMostChunks;
  expect(0, 1024, 0, 0);
  expect(0, 0, 0, 0);
  expect(1000, 0, 1000, 1);
  expect(1, 1024, 1024, 1);
  expect(1024, 1024, 1024, 1);
  expect(1025, 1024, 1024, 2);
  expect(kMost * 1024, 1024, 1024, kMost);
  expect(kMost * 1024 + 1, 1024, 2048, kMost / 2 + 1);
  expect(kMost * 1024 * 4 + 1, 1024, 8192, kMost / 2 + 1);
}

TEST(Chunks, TableHasTheDigestOfEachAtItsPlace) {
  const std::vector<std::byte> data(100, std::byte{7});
  std::vector<fingerprint::Sums> sums(4);
  fingerprint::chunks(data.data(), data.size(), 32, sums.data());
  const trace::ChunkTable table = chunk_table(data.size(), 32, true, sums);
  EXPECT_EQ(table.bytes, 100u);
  EXPECT_EQ(table.chunk_bytes, 32u);
  EXPECT_TRUE(table.is_output);
  ASSERT_EQ(table.digests.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t bytes = i < 3 ? 32 : 4;
    fingerprint::Sums its;
    fingerprint::add(its, data.data() + 32 * i, bytes, 2 * i);
    EXPECT_EQ(trace::to_hex(table.digests[i]), fingerprint::to_string(fingerprint::finish(its, bytes))) << i;
  }
  EXPECT_NE(table.digests[0], table.digests[1]) << "the same bytes at another place";
}

}  // namespace
}  // namespace detccl::recorder
