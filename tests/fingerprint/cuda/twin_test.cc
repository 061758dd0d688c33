// SPDX-License-Identifier: Apache-2.0
// The GPU's sums, chunk tables and torch hashes are the host's: over sizes, alignments, places and grids.
#include <cstring>

#include "fingerprint/digest.h"
#include "gpu_test.h"

namespace detccl::fingerprint::cuda {
namespace {

constexpr std::size_t kMost = std::size_t{24} << 20;

class Twin : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_CUDA(load_kernels());
  }
};

TEST_F(Twin, SizesAlignmentsAndGrids) {
  Random random(new_seed());
  const auto data = random_bytes(random, kMost);
  GpuMemory payload(kMost), result(sizeof(Sums));
  payload.upload(0, data.data(), data.size());
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 0; bytes <= 100; ++bytes)
    sizes.push_back(bytes);
  for (int i = 0; i < 300; ++i)
    sizes.push_back(static_cast<std::size_t>(random() % kMost) >> random() % 20);
  for (const std::size_t words : {255U, 256U, 257U, 2047U, 2048U, 2049U, 4096U, 1081344U, 1081345U})
    sizes.push_back(words * 16);
  for (const std::size_t bytes : sizes) {
    const std::size_t past = random() % 3 == 0 ? 0 : random() % 64;
    if (past + bytes > kMost) continue;
    const std::uint64_t first_word = random() >> (4 + random() % 60);
    const LaunchLimits limits{static_cast<std::uint32_t>(random() % 4 == 0 ? 1 + random() % 40 : 0)};
    Sums expected{random(), random()};  // results are added to what is there
    result.upload(0, &expected, sizeof(expected));
    ASSERT_CUDA(cuda::digest(payload.data() + past, bytes, first_word, reinterpret_cast<Sums*>(result.data()),
                             limits, nullptr));
    Sums sums;
    result.download(0, &sums, sizeof(sums));
    add(expected, data.data() + past, bytes, first_word);
    ASSERT_EQ(sums, expected) << bytes << " bytes " << past << " past a multiple of 64, first word "
                              << first_word << ", blocks " << limits.max_blocks;
  }
}

TEST_F(Twin, ChunkTables) {
  Random random(new_seed());
  const auto data = random_bytes(random, kMost);
  GpuMemory payload(kMost), result(kMaxChunks * sizeof(Sums));
  payload.upload(0, data.data(), data.size());
  for (int round = 0; round < 100; ++round) {
    const std::size_t past = random() % 2 == 0 ? 0 : random() % 64;
    const std::size_t bytes = static_cast<std::size_t>(random() % (kMost - 64)) >> random() % 20;
    const std::size_t chunk = (bytes / (1 + random() % 100) / 16 + 1) * 16;
    std::vector<Sums> expected(chunk_count(bytes, chunk)), table(expected.size());
    fingerprint::chunks(data.data() + past, bytes, chunk, expected.data());
    result.clear(0, table.size() * sizeof(Sums));
    ASSERT_CUDA(cuda::chunks(payload.data() + past, bytes, chunk, reinterpret_cast<Sums*>(result.data()),
                             {static_cast<std::uint32_t>(random() % 3)}, nullptr));
    result.download(0, table.data(), table.size() * sizeof(Sums));
    ASSERT_EQ(table, expected) << bytes << " bytes in chunks of " << chunk << ", " << past << " past";
  }
}

TEST_F(Twin, WrongChunks) {
  GpuMemory payload(1 << 20), result(sizeof(Sums));
  auto* const table = reinterpret_cast<Sums*>(result.data());
  EXPECT_EQ(cuda::chunks(payload.data(), 100, 0, table, {}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cuda::chunks(payload.data(), 100, 24, table, {}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cuda::chunks(payload.data(), 1 << 20, 16, table, {}, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cuda::chunks(payload.data(), 0, 16, table, {}, nullptr), cudaSuccess);
}

TEST_F(Twin, TorchHashes) {
  Random random(new_seed());
  const auto data = random_bytes(random, kMost);
  GpuMemory payload(kMost), result(sizeof(std::uint64_t));
  payload.upload(0, data.data(), data.size());
  for (int type = 0; type < kTorchTypes; ++type) {
    const auto t = static_cast<TorchType>(type);
    for (int round = 0; round < 20; ++round) {
      const std::size_t past = random() % 2 == 0 ? 0 : random() % 64;
      const std::size_t count =
          static_cast<std::size_t>(random() % ((kMost - 64) / size_of(t))) >> random() % 20;
      result.clear(0, sizeof(std::uint64_t));
      ASSERT_CUDA(cuda::torch_hash(t, payload.data() + past, count,
                                   reinterpret_cast<std::uint64_t*>(result.data()), {}, nullptr));
      std::uint64_t hash = 0;
      result.download(0, &hash, sizeof(hash));
      ASSERT_EQ(hash, fingerprint::torch_hash(t, data.data() + past, count)) << name(t) << " x " << count;
    }
  }
}

TEST_F(Twin, AnotherCallsErrorIsNotTheirs) {
  constexpr std::size_t kBytes = 4096;
  GpuMemory payload(kBytes), result(sizeof(Sums));
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cuda::digest(payload.data(), kBytes, 0, reinterpret_cast<Sums*>(result.data()), {}, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cuda::torch_hash(TorchType::int64, payload.data(), kBytes / 8,
                             reinterpret_cast<std::uint64_t*>(result.data()), {}, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace detccl::fingerprint::cuda
