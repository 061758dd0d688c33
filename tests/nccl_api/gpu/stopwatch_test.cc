// SPDX-License-Identifier: Apache-2.0
// A thread that groups communicators of several GPUs has another device than theirs current.
#include "nccl_api/gpu/stopwatch.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::OnDevice;
using profile::Moment;

constexpr std::size_t kBytes = std::size_t{64} << 20;

struct Told {
  Moment moment;
  std::uint64_t nanoseconds, kernel;
};
std::vector<Told> told;

int gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

class StopwatchTest : public testing::Test {
 protected:
  StopwatchTest() {
    told.clear();
    set_observer([](const profile::Operation* operation, Moment moment, std::uint64_t nanoseconds) {
      told.push_back({moment, nanoseconds, operation->kernel});
    });
  }
  ~StopwatchTest() override { set_observer(nullptr); }

  static std::vector<engine::cuda::StreamCall> call_on(cudaStream_t stream) {
    engine::Reduction call;
    call.count = kBytes / sizeof(float);
    return {{call, stream}};
  }
};

/// Measures a call on a stream of `device` while device 0 is current.
void measure(Stopwatch& stopwatch, int device, const std::vector<engine::cuda::StreamCall>& calls,
             std::byte* memory) {
  const cudaStream_t stream = calls.front().stream;
  std::atomic<bool> go = false;
  told.clear();
  stopwatch.before(calls);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  ASSERT_NE(stopwatch.parts(), nullptr);
  {
    const OnDevice guard(device);
    stopwatch.parts()->begin(1);
    stopwatch.parts()->enter(engine::stream::Part::kernel, 0, stream);
    ASSERT_EQ(cudaMemsetAsync(memory, 1, kBytes, stream), cudaSuccess);
    ASSERT_EQ(cudaLaunchHostFunc(
                  stream, [](void* its) { static_cast<const std::atomic<bool>*>(its)->wait(false); }, &go),
              cudaSuccess);
    stopwatch.parts()->end(stream);
  }
  stopwatch.after();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  stopwatch.before(calls);  // while it runs
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(told.size(), 2U);
  go = true;
  go.notify_all();
  {
    const OnDevice guard(device);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  stopwatch.before(calls);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[3].moment, Moment::measured);
  EXPECT_GT(told[3].nanoseconds, 0U);
  EXPECT_GT(told[3].kernel, 0U);
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

void measure_on(int device, const auto& call_on) {
  ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
  const engine::cuda::Memory memory(kBytes);
  engine::cuda::SideStreams streams;
  const cudaStream_t own = streams.get(0);
  Stopwatch stopwatch(device, 1, {}, 7, 0, 2, true);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  for (const cudaStream_t stream : {own, cudaStream_t{nullptr}, own}) {
    measure(stopwatch, device, call_on(stream), memory.data());
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(StopwatchTest, MeasuresCallsOfTheCurrentDevice) {
  if (gpus() < 1) GTEST_SKIP() << "no GPU here";
  measure_on(0, call_on);
}

TEST_F(StopwatchTest, MeasuresCallsOfAnotherDeviceThanTheCurrentOne) {
  if (gpus() < 2) GTEST_SKIP() << "needs two GPUs";
  measure_on(1, call_on);
}

/// Also where there is no GPU at all.
TEST_F(StopwatchTest, WhatCannotBeMeasuredIsTold) {
  {
    Stopwatch stopwatch(1 << 20, 1, {}, 7, 0, 2, true);
    for (int i = 0; i < 5; ++i) {
      stopwatch.before(call_on(nullptr));
      EXPECT_EQ(stopwatch.parts(), nullptr);
      stopwatch.after();
    }
  }
  ASSERT_EQ(told.size(), 6U);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(told[i].moment, Moment::enqueued);
  EXPECT_EQ(told[5].moment, Moment::ended);
  if (gpus() > 0) {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
}

}  // namespace
}  // namespace detccl::nccl_api::gpu
