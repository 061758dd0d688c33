// SPDX-License-Identifier: Apache-2.0
// A captured digest gives, at every replay, the sums of what the memory holds at the moment.
#include <cstring>

#include "fingerprint/digest.h"
#include "gpu_test.h"

namespace detccl::fingerprint::cuda {
namespace {

constexpr std::size_t kBytes = 100003;

class Graph : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_CUDA(load_kernels());
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    if (stream_ != nullptr) {
      EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    }
  }
  cudaStream_t stream_ = nullptr;
};

TEST_F(Graph, ReplaysDigestWhatIsThere) {
  Random random(new_seed());
  for (const std::size_t past : {0U, 5U}) {
    GpuMemory payload(kBytes + past), result(sizeof(Sums));
    auto* const sums = reinterpret_cast<Sums*>(result.data());
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(cudaMemsetAsync(sums, 0, sizeof(Sums), stream_));
    ASSERT_CUDA(cuda::digest(payload.data() + past, kBytes, 7, sums, {}, stream_));
    ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 1000; ++round) {
      const auto data = random_bytes(random, round % 10 == 0 ? kBytes : 16);
      std::vector<std::byte> expected_data(kBytes);
      const std::size_t at = data.size() == kBytes ? 0 : random() % (kBytes - 16);
      payload.upload(past + at, data.data(), data.size());
      payload.download(past, expected_data.data(), kBytes);
      ASSERT_CUDA(cudaGraphLaunch(executable, stream_));
      ASSERT_CUDA(cudaStreamSynchronize(stream_));
      Sums got, expected;
      result.download(0, &got, sizeof(got));
      add(expected, expected_data.data(), kBytes, 7);
      ASSERT_EQ(got, expected) << "replay " << round;
    }
    ASSERT_CUDA(cudaGraphExecDestroy(executable));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
}

}  // namespace
}  // namespace detccl::fingerprint::cuda
