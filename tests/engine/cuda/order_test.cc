// SPDX-License-Identifier: Apache-2.0
// The order of a communicator's operations where some are captured: the end of a graph's last one is waited
// for, and costs the graph one node that nothing in it waits for.
#include "engine/cuda/order.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::engine::cuda {
namespace {

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

class OrderTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU here";
    for (cudaStream_t& stream : streams_)
      ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    order_.emplace();
  }
  void TearDown() override {
    for (const cudaStream_t stream : streams_) {
      if (stream == nullptr) continue;
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    }
  }

  /// An operation: `what` runs on the host in the stream's order.
  void operate(cudaStream_t stream, void (*what)(void*)) {
    const CaptureId capture = capture_of(stream);
    order_->before(stream, capture);
    ASSERT_CUDA(cudaLaunchHostFunc(stream, what, this));
    order_->after(stream, capture);
  }
  static void begin_slowly(void* test) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++static_cast<OrderTest*>(test)->done_;
  }
  /// How many were done by then.
  static void look(void* test) {
    static_cast<OrderTest*>(test)->seen_ = static_cast<OrderTest*>(test)->done_.load();
  }

  static std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
    std::vector<cudaGraphNode_t> nodes(count);
    EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
    return nodes;
  }
  static std::ptrdiff_t count(cudaGraph_t graph, cudaGraphNodeType wanted) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    return std::count_if(nodes.begin(), nodes.end(), [wanted](cudaGraphNode_t node) {
      cudaGraphNodeType type{};
      return cudaGraphNodeGetType(node, &type) == cudaSuccess && type == wanted;
    });
  }

  cudaStream_t streams_[2] = {};
  std::optional<Order> order_;
  std::atomic<int> done_ = 0, seen_ = -1;
};

TEST_F(OrderTest, TheLastOfAGraphIsWaitedFor) {
  constexpr int kOperations = 5;
  cudaGraph_t graph = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kOperations; ++i)
    operate(streams_[0], begin_slowly);
  ASSERT_CUDA(cudaStreamEndCapture(streams_[0], &graph));
  EXPECT_EQ(count(graph, cudaGraphNodeTypeHost), kOperations);
  EXPECT_EQ(count(graph, cudaGraphNodeTypeEventRecord), 1);
  cudaGraphExec_t runnable = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&runnable, graph, 0));
  for (int round = 1; round <= 3; ++round) {
    ASSERT_CUDA(cudaGraphLaunch(runnable, streams_[0]));
    operate(streams_[1], look);
    ASSERT_CUDA(cudaStreamSynchronize(streams_[1]));
    EXPECT_EQ(seen_, round * kOperations);
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
  ASSERT_CUDA(cudaGraphExecDestroy(runnable));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(OrderTest, OperationsOfAGraphOnTwoStreamsKeepTheirOrder) {
  cudaGraph_t graph = nullptr;
  Event forked, joined;
  ASSERT_CUDA(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal));
  forked.record(streams_[0]);
  forked.wait(streams_[1]);
  operate(streams_[0], begin_slowly);
  operate(streams_[1], begin_slowly);
  operate(streams_[0], begin_slowly);
  operate(streams_[1], look);
  joined.record(streams_[1]);
  joined.wait(streams_[0]);
  ASSERT_CUDA(cudaStreamEndCapture(streams_[0], &graph));
  EXPECT_EQ(count(graph, cudaGraphNodeTypeEventRecord), 1);
  cudaGraphExec_t runnable = nullptr;
  ASSERT_CUDA(cudaGraphInstantiate(&runnable, graph, 0));
  ASSERT_CUDA(cudaGraphLaunch(runnable, streams_[0]));
  ASSERT_CUDA(cudaStreamSynchronize(streams_[0]));
  EXPECT_EQ(seen_, 3);
  operate(streams_[1], begin_slowly);
  operate(streams_[0], look);
  ASSERT_CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(seen_, 4);
  ASSERT_CUDA(cudaGraphExecDestroy(runnable));
  ASSERT_CUDA(cudaGraphDestroy(graph));
}

TEST_F(OrderTest, GraphsThatAreCapturedInTurnEachHaveARecord) {
  cudaGraph_t graphs[2] = {};
  cudaGraphExec_t runnable[2] = {};
  for (int g = 0; g < 2; ++g)
    ASSERT_CUDA(cudaStreamBeginCapture(streams_[g], cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 2; ++i) {
    for (int g = 0; g < 2; ++g)
      operate(streams_[g], begin_slowly);
  }
  for (int g = 0; g < 2; ++g)
    ASSERT_CUDA(cudaStreamEndCapture(streams_[g], &graphs[g]));
  for (int g = 0; g < 2; ++g) {
    EXPECT_GE(count(graphs[g], cudaGraphNodeTypeEventRecord), 1);
    ASSERT_CUDA(cudaGraphInstantiate(&runnable[g], graphs[g], 0));
  }
  for (int g = 0; g < 2; ++g) {
    ASSERT_CUDA(cudaGraphLaunch(runnable[g], streams_[g]));
    operate(streams_[1 - g], look);
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(seen_, 2 * (g + 1));
  }
  for (int g = 0; g < 2; ++g) {
    ASSERT_CUDA(cudaGraphExecDestroy(runnable[g]));
    ASSERT_CUDA(cudaGraphDestroy(graphs[g]));
  }
}

}  // namespace
}  // namespace detccl::engine::cuda
