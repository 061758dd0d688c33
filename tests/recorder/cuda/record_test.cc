// SPDX-License-Identifier: Apache-2.0
// What kernels record, as it arrives in the trace file.
#include "recorder/cuda/record.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "command.h"
#include "fingerprint/digest.h"
#include "read_records.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/drain.h"

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

namespace detccl::recorder::cuda {
namespace {

using trace::Record;

constexpr std::size_t kBytes = 100003;

class GpuRecords : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU here: " << (error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    const char* chosen = std::getenv("DETCCL_TEST_SEED");
    const std::uint64_t seed = chosen != nullptr ? std::stoull(chosen) : std::random_device{}();
    std::cout << "seed " << seed << " (DETCCL_TEST_SEED repeats it)\n";
    random_.seed(seed);
    ASSERT_CUDA(load_kernels());
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&input_), kBytes));
    ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&output_), kBytes));
    ASSERT_CUDA(cudaMemset(input_, 0, kBytes));
    ASSERT_CUDA(cudaMemset(output_, 0, kBytes));
  }
  void TearDown() override {
    cudaFree(input_);
    cudaFree(output_);
    if (stream_ != nullptr) {
      EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    }
  }

  void make_ring(std::uint64_t slots) {
    ASSERT_CUDA(memory_.init(slots));
    ASSERT_CUDA(memory_.counter(counter_));
  }
  void start() {
    drain_ = std::make_unique<Drain>(
        RingReader(memory_.host_slots(), memory_.host_control(), memory_.ring().capacity), sites_, recorder_,
        [] {});
  }
  /// An operation that turns its `bytes` bytes of input into output.
  void operate(std::size_t bytes, bool captured) {
    Site site;
    site.input_bytes = site.output_bytes = bytes;
    site.record.count = bytes;
    site.captured = captured;
    const auto place = sites_.add(site);
    ASSERT_TRUE(place);
    Accumulator* accumulator = nullptr;
    ASSERT_CUDA(memory_.accumulator(place->accumulator, accumulator));
    ASSERT_CUDA(digest({input_, bytes}, &accumulator->input, stream_));
    ASSERT_CUDA(cudaMemcpyAsync(output_, input_, bytes, cudaMemcpyDeviceToDevice, stream_));
    ASSERT_CUDA(cudaMemsetAsync(output_, 0xff, 1, stream_));
    sites_.commit(place->site);
    ASSERT_CUDA(record({memory_.ring(), place->site, counter_, accumulator}, {output_, bytes}, stream_));
  }
  std::vector<std::byte> new_input(std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::byte& byte : data)
      byte = static_cast<std::byte>(random_());
    return data;
  }
  std::vector<Record> close() {
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    drain_->close();
    recorder_.close();
    reader_ = open(recorder_.path());
    return records_of(*reader_);
  }
  static void expect_digests(const Record& got, std::vector<std::byte> data) {
    ASSERT_EQ(trace::to_hex(got.input),
              fingerprint::to_string(fingerprint::digest(data.data(), data.size())));
    data[0] = std::byte{0xff};
    ASSERT_EQ(trace::to_hex(got.output),
              fingerprint::to_string(fingerprint::digest(data.data(), data.size())));
  }

  std::mt19937_64 random_;
  test::Folder folder_;
  cudaStream_t stream_ = nullptr;
  std::byte *input_ = nullptr, *output_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  DeviceRing memory_;
  SiteTable sites_{100000};
  Recorder recorder_{{folder_.file("trace"), {}, 0}, {}};
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<trace::Reader> reader_;
};

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

}  // namespace
}  // namespace detccl::recorder::cuda
