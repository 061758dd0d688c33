// SPDX-License-Identifier: Apache-2.0
// Kernels whose peers do not come end, with a code, and so do all after them.
#include <chrono>
#include <thread>
#include <vector>

#include "group.h"

namespace detccl::device::cuda::peer {
namespace {

class PeerFault : public GpuTest {};

struct Kind {
  Mode mode;
  std::uint64_t count;
};

GroupCall call_in(const Kind& kind, std::uint32_t ranks) {
  GroupCall c;
  c.arithmetic.ranks = ranks;
  c.mode = kind.mode;
  c.count = kind.count;
  c.send_bytes = c.receive_bytes = c.count * 4;
  c.send.assign(ranks, 0);
  c.receive.assign(ranks, (c.send_bytes + 255) / 256 * 256);
  return c;
}

class InMode : public PeerFault, public testing::WithParamInterface<Kind> {};

TEST_P(InMode, AMissingPeerIsATimeout) {
  Group group(3);
  group.set_timeout(100'000'000);
  const GroupCall c = call_in(GetParam(), 3);
  for (int i = 0; i < 3; ++i) {
    ASSERT_CUDA(group.enqueue(c, 0));
    ASSERT_CUDA(group.enqueue(c, 2));
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Failure> failures = group.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(failures, (std::vector{Failure::timeout, Failure::none, Failure::timeout}));
}

TEST_P(InMode, AnAbortEndsWaiting) {
  Group group(2);
  group.set_timeout(60'000'000'000);
  const GroupCall c = call_in(GetParam(), 2);
  ASSERT_CUDA(group.enqueue(c, 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(cudaStreamQuery(group.stream(1)), cudaErrorNotReady);
  *reinterpret_cast<volatile std::uint32_t*>(&group.words(1).abort) = 1;
  EXPECT_EQ(group.finish(), (std::vector{Failure::none, Failure::aborted}));
}

// In one step of a block, and in several.
constexpr Kind kKinds[] = {{Mode::packets, 4000},   {Mode::shard_packets, 4000}, {Mode::one_shot, 4000},
                           {Mode::one_shot, 50000}, {Mode::two_shot, 4000},      {Mode::two_shot, 50000}};

INSTANTIATE_TEST_SUITE_P(Modes, InMode, testing::ValuesIn(kKinds));

TEST_F(PeerFault, DrainingEndsWhenThePeersAreThrough) {
  for (const Kind& kind : kKinds) {
    Group group(4);
    const GroupCall c = call_in(kind, 4);
    for (int i = 0; i < 5; ++i)
      group.enqueue(c);
    for (std::uint32_t r = 0; r < 4; ++r)
      ASSERT_CUDA(drain(group.endpoint(r), group.stream(r)));
    for (const Failure failure : group.finish())
      EXPECT_EQ(failure, Failure::none);
  }
}

TEST_F(PeerFault, AnotherCallsErrorIsNotADrains) {
  Group group(2);
  ASSERT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  for (std::uint32_t r = 0; r < 2; ++r)
    EXPECT_EQ(drain(group.endpoint(r), group.stream(r)), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  for (const Failure failure : group.finish())
    EXPECT_EQ(failure, Failure::none);
}

}  // namespace
}  // namespace detccl::device::cuda::peer
