// SPDX-License-Identifier: Apache-2.0
// What kernels record, as it arrives in the trace file.
#include "recorder/cuda/record.h"

#include "gpu_records.h"

namespace detccl::recorder::cuda {
namespace {

TEST_F(GpuRecords, EagerDigestsAreTheHosts) {
  make_ring(64);
  start();
  std::vector<std::vector<std::byte>> inputs;
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{16}, std::size_t{4097}, kBytes, std::size_t{33}}) {
    for (int i = 0; i < 20; ++i) {
      inputs.push_back(new_input(bytes));
      ASSERT_CUDA(cudaMemcpy(input_, inputs.back().data(), bytes, cudaMemcpyHostToDevice));
      operate(bytes, false);
      ASSERT_CUDA(cudaStreamSynchronize(stream_));
    }
  }
  const std::vector<Record> all = close();
  ASSERT_EQ(all.size(), inputs.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].sequence, i);
    EXPECT_EQ(all[i].communicator_sequence, i);
    expect_digests(all[i], inputs[i]);
  }
}

TEST_F(GpuRecords, TenThousandReplaysLeaveTheirOwnRecords) {
  constexpr std::uint64_t kReplays = 10000;
  make_ring(4096);
  start();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  operate(4097, true);
  operate(1000, true);
  ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<std::byte> data(4097);
  std::uint64_t* changing = nullptr;
  ASSERT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&changing), kReplays * sizeof(std::uint64_t)));
  for (std::uint64_t i = 0; i < kReplays; ++i) {
    changing[i] = i;
    ASSERT_CUDA(cudaMemcpyAsync(input_ + 16, changing + i, 8, cudaMemcpyHostToDevice, stream_));
    ASSERT_CUDA(cudaGraphLaunch(executable, stream_));
    // The thread that empties the ring shares the machine with others: not to outrun it.
    if (i % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::vector<Record> all = close();
  ASSERT_EQ(recorder_.problem(), "");
  ASSERT_EQ(all.size(), 2 * kReplays);
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].communicator_sequence, i);
    ASSERT_EQ(all[i].count, i % 2 == 0 ? 4097u : 1000u);
    const std::uint64_t value = i / 2;
    std::memcpy(data.data() + 16, &value, 8);
    expect_digests(all[i],
                   std::vector<std::byte>(data.begin(), data.begin() + static_cast<long>(all[i].count)));
  }
  EXPECT_EQ(cudaFreeHost(changing), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(GpuRecords, OverflowIsCounted) {
  make_ring(8);
  for (int i = 0; i < 20; ++i)
    operate(100, false);
  ASSERT_CUDA(cudaStreamSynchronize(stream_));
  start();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  operate(100, false);
  const std::vector<Record> all = close();
  ASSERT_EQ(all.size(), 9u);
  for (std::uint64_t i = 0; i < 8; ++i)
    EXPECT_EQ(all[i].communicator_sequence, i);
  EXPECT_EQ(all[8].communicator_sequence, 20u);
  EXPECT_EQ(all[8].sequence, 20u);
  EXPECT_NE(recorder_.problem().find("12 records dropped on the GPU"), std::string::npos)
      << recorder_.problem();
}

TEST_F(GpuRecords, AnotherCallsErrorIsNotTheirs) {
  make_ring(64);
  start();
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  operate(4097, false);
  operate(0, false);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(close().size(), 2u);
}

}  // namespace
}  // namespace detccl::recorder::cuda
