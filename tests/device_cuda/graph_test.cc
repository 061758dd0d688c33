// SPDX-License-Identifier: Apache-2.0
// Folds and copies in a captured CUDA graph give the bits of eager ones, at every replay.
#include <cstring>
#include <vector>

#include "gpu_arena.h"

namespace detccl::device::cuda {
namespace {

using contract::Accumulate;
using contract::DataType;
using contract::Op;
using contract::Order;
using plan::Form;

class Graph : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_CUDA(load_kernels());
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    GpuTest::TearDown();
    if (stream_ == nullptr) return;
    ASSERT_CUDA(cudaStreamDestroy(stream_));
  }
  cudaStream_t stream_ = nullptr;
};

/// A chain as a plan has it: operands to a partial, the partial and one more to the result, a copy of it.
struct Chain {
  Arithmetic arithmetic;
  std::vector<Array> inputs;
  Array partial, result, copied;
  std::uint64_t count;

  cudaError_t enqueue(GpuArena& arena, cudaStream_t stream) const {
    std::vector<Operand> operands;
    for (const Array& input : inputs)
      operands.push_back({arena.gpu(input), Form::raw});
    cudaError_t error = fold(arithmetic, operands, arena.gpu(partial), Form::partial, count, {}, stream);
    if (error != cudaSuccess) return error;
    const std::vector<Operand> last = {{arena.gpu(partial), Form::partial}, operands[0]};
    error = fold(arithmetic, last, arena.gpu(result), Form::final, count, {}, stream);
    if (error != cudaSuccess) return error;
    return copy(arena.gpu(copied), arena.gpu(result), result.bytes, stream);
  }
  std::vector<std::byte> on_host(GpuArena& arena) const {
    std::vector<Operand> operands;
    for (const Array& input : inputs)
      operands.push_back({arena.host(input), Form::raw});
    std::vector<std::byte> sum(count * 4), out(result.bytes);
    host::fold(arithmetic, operands, sum.data(), Form::partial, count);
    const std::vector<Operand> last = {{sum.data(), Form::partial}, operands[0]};
    host::fold(arithmetic, last, out.data(), Form::final, count);
    return out;
  }
};

TEST_F(Graph, ReplaysGiveTheBitsOfTheInputsOfTheMoment) {
  host::Random random(host::new_seed());
  GpuArena arena;
  for (const std::size_t operands : {2U, 5U, 20U}) {
    const Arithmetic a{DataType::bfloat16, Op::premulsum, Order::tree, Accumulate::wide, 1, 0x3fc1};
    arena.clear();
    Chain chain{.arithmetic = a, .inputs = {}, .partial = {}, .result = {}, .copied = {}, .count = 5003};
    for (std::size_t i = 0; i < operands; ++i)
      chain.inputs.push_back(arena.add(random, a.type, chain.count, 0));
    chain.partial = arena.add(chain.count * 4, 0);
    chain.result = arena.add(chain.count * 2, 0);
    chain.copied = arena.add(chain.count * 2, 6);

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    ASSERT_CUDA(chain.enqueue(arena, stream_));
    ASSERT_CUDA(cudaStreamEndCapture(stream_, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < chain.count; ++i) {
        const std::uint64_t bits = host::random_element(random, a.type);
        std::memcpy(arena.host(chain.inputs[0]) + 2 * i, &bits, 2);
      }
      const auto expected = chain.on_host(arena);
      arena.upload();
      for (int replay = 0; replay < 500; ++replay)
        ASSERT_CUDA(cudaGraphLaunch(executable, stream_));
      ASSERT_CUDA(cudaStreamSynchronize(stream_));
      arena.download();
      EXPECT_EQ(std::memcmp(arena.host(chain.copied), expected.data(), expected.size()), 0);
    }
    ASSERT_CUDA(cudaGraphExecDestroy(executable));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
}

}  // namespace
}  // namespace detccl::device::cuda
