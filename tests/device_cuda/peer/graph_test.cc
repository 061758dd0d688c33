// SPDX-License-Identifier: Apache-2.0
// Captured in CUDA graphs: steps are counted on the GPU, so replays mix with each other and with eager calls.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "group.h"

namespace detccl::device::cuda::peer {
namespace {

using plan::Collective;

class PeerGraph : public GpuTest {};

TEST_F(PeerGraph, ReplaysGiveTheBitsOfTheInputsOfTheMoment) {
  host::Random random(host::new_seed());
  const std::uint64_t replays = times("DETCCL_TEST_REPLAYS", 200);
  for (const std::uint32_t ranks : {2U, 8U}) {
    Group group(ranks);
    std::vector<GroupCall> calls;
    std::uint64_t bytes = 256;
    for (const Mode mode :
         {Mode::packets, Mode::shard_packets, Mode::one_shot, Mode::two_shot, Mode::packets}) {
      GroupCall c;
      c.arithmetic = {contract::DataType::float16, contract::Op::avg};
      c.arithmetic.ranks = ranks;
      c.mode = mode;
      c.count = mode == Mode::packets ? 333 : 9000;
      c.send_bytes = c.receive_bytes = c.count * 2;
      c.send.assign(ranks, bytes);
      c.receive.assign(ranks, (bytes + c.send_bytes + 255) / 256 * 256);
      bytes = (c.receive[0] + c.receive_bytes + 255) / 256 * 256;
      calls.push_back(c);
    }
    std::vector<cudaGraphExec_t> graphs;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      cudaGraph_t graph = nullptr;
      graphs.emplace_back();
      ASSERT_CUDA(cudaStreamBeginCapture(group.stream(r), cudaStreamCaptureModeGlobal));
      for (const GroupCall& c : calls)
        ASSERT_CUDA(group.enqueue(c, r));
      ASSERT_CUDA(cudaStreamEndCapture(group.stream(r), &graph));
      ASSERT_CUDA(cudaGraphInstantiate(&graphs.back(), graph, 0));
      ASSERT_CUDA(cudaGraphUpload(graphs.back(), group.stream(r)));
      ASSERT_CUDA(cudaStreamSynchronize(group.stream(r)));
      ASSERT_CUDA(cudaGraphDestroy(graph));
    }
    for (int round = 0; round < 3; ++round) {
      std::vector<std::vector<std::byte>> arenas(ranks, std::vector<std::byte>(bytes));
      for (auto& arena : arenas) {
        for (std::uint64_t at = 0; at + 2 <= bytes; at += 2) {
          const std::uint64_t bits = host::random_element(random, contract::DataType::float16);
          std::memcpy(arena.data() + at, &bits, 2);
        }
      }
      for (std::uint32_t r = 0; r < ranks; ++r)
        ASSERT_CUDA(cudaMemcpy(group.memory(r), arenas[r].data(), bytes, cudaMemcpyHostToDevice));
      ASSERT_CUDA(cudaDeviceSynchronize());
      for (std::uint64_t replay = 0; replay < replays; ++replay) {
        for (std::uint32_t r = 0; r < ranks; ++r)
          ASSERT_CUDA(cudaGraphLaunch(graphs[r], group.stream(r)));
        if (replay % 7 == 0) group.enqueue(calls[static_cast<std::size_t>(replay) % calls.size()]);
      }
      for (const Failure failure : group.finish())
        ASSERT_EQ(failure, Failure::none);
      for (const GroupCall& c : calls) {
        for (std::uint32_t r = 0; r < ranks; ++r) {
          std::vector<std::byte> got(c.receive_bytes);
          ASSERT_CUDA(
              cudaMemcpy(got.data(), group.memory(r) + c.receive[r], got.size(), cudaMemcpyDeviceToHost));
          EXPECT_TRUE(got == expected(c, arenas, r)) << describe(c);
        }
      }
    }
    for (const cudaGraphExec_t graph : graphs)
      ASSERT_CUDA(cudaGraphExecDestroy(graph));
  }
}

}  // namespace
}  // namespace detccl::device::cuda::peer
