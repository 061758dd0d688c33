// SPDX-License-Identifier: Apache-2.0
// Operations on a GPU that are recorded, plainly or in detail, and what arrives in the trace file.
#pragma once

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
#include "recorder/cuda/detailed.h"
#include "recorder/cuda/device_ring.h"
#include "recorder/cuda/record.h"
#include "recorder/drain.h"

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

namespace detccl::recorder::cuda {

using trace::Record;

constexpr std::size_t kBytes = 100003;

class GpuRecords : public testing::Test {
 protected:
  GpuRecords() = default;
  /// Detailed records; chunk_bytes: as in Options. Payloads of up to `most` bytes.
  GpuRecords(std::size_t chunk_bytes, std::size_t most)
      : most_(most), recorder_({folder_.file("trace"), {}, chunk_bytes, true}, {}) {}

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
    if (recorder_.options().detailed()) {
      ASSERT_CUDA(load_detailed_kernels());
    }
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&input_), most_));
    ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&output_), most_));
    ASSERT_CUDA(cudaMemset(input_, 0, most_));
    ASSERT_CUDA(cudaMemset(output_, 0, most_));
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

  const std::size_t most_ = kBytes;
  std::mt19937_64 random_;
  test::Folder folder_;
  cudaStream_t stream_ = nullptr;
  std::byte *input_ = nullptr, *output_ = nullptr;
  std::uint64_t* counter_ = nullptr;
  DeviceRing memory_;
  SiteTable sites_{100000};
  Recorder recorder_{{folder_.file("trace"), {}, 0, false}, {}};
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<trace::Reader> reader_;
};

}  // namespace detccl::recorder::cuda
