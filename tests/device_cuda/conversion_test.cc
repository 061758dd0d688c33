// SPDX-License-Identifier: Apache-2.0
#include "contract/float_formats.h"
#include "conversion_check.h"
#include "gpu_arena.h"

namespace detccl::device::cuda {
namespace {

template <class Format>
class Conversions : public GpuTest {};

using Formats =
    testing::Types<contract::Float16, contract::Bfloat16, contract::Float8E4M3, contract::Float8E5M2>;
TYPED_TEST_SUITE(Conversions, Formats);

/// What `count` leaves in a counter that starts at 0.
std::uint64_t counted(cudaError_t (*count)(std::uint64_t*)) {
  void* counter = nullptr;
  std::uint64_t result = 0;
  EXPECT_EQ(cudaMalloc(&counter, sizeof result), cudaSuccess);
  EXPECT_EQ(cudaMemset(counter, 0, sizeof result), cudaSuccess);
  EXPECT_EQ(count(static_cast<std::uint64_t*>(counter)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(counter), cudaSuccess);
  return result;
}

TYPED_TEST(Conversions, EncodingOfEveryFloatIsTheContracts) {
  EXPECT_EQ(counted(count_differing_encodings<TypeParam>), 0U);
}

TYPED_TEST(Conversions, DecodingOfEveryPatternIsTheContracts) {
  EXPECT_EQ(counted(count_differing_decodings<TypeParam>), 0U);
}

}  // namespace
}  // namespace detccl::device::cuda
