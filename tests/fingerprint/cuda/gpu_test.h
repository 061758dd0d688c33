// SPDX-License-Identifier: Apache-2.0
// What the GPU tests share: skipping, memory, a seed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fingerprint/cuda/digest.h"

namespace detccl::fingerprint::cuda {

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

/// Tests of this fixture are skipped where there is no GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
};

/// Device memory. Throws std::runtime_error for an error.
class GpuMemory {
 public:
  explicit GpuMemory(std::size_t bytes);
  ~GpuMemory();
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  std::byte* data() const { return data_; }
  void upload(std::size_t at, const void* from, std::size_t bytes);
  void download(std::size_t at, void* to, std::size_t bytes) const;
  void clear(std::size_t at, std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
};

using Random = std::mt19937_64;

/// Prints the seed; DETCCL_TEST_SEED repeats it.
std::uint64_t new_seed();
std::vector<std::byte> random_bytes(Random& random, std::size_t n);

}  // namespace detccl::fingerprint::cuda
