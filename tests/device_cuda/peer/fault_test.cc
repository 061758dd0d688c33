// SPDX-License-Identifier: Apache-2.0
// Kernels whose peers do not come end, with a code, and so do all after them.
#include <chrono>
#include <thread>
#include <vector>

#include "group.h"

namespace detccl::device::cuda::peer {
namespace {

class PeerFault : public GpuTest {};

GroupCall call_in(Mode mode, std::uint32_t ranks) {
  GroupCall c;
  c.arithmetic.ranks = ranks;
  c.mode = mode;
  c.count = 4000;
  c.send_bytes = c.receive_bytes = c.count * 4;
  c.send.assign(ranks, 0);
  c.receive.assign(ranks, 65536);
  return c;
}

class InMode : public PeerFault, public testing::WithParamInterface<Mode> {};

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

INSTANTIATE_TEST_SUITE_P(Modes, InMode, testing::Values(Mode::packets, Mode::one_shot, Mode::two_shot));

TEST_F(PeerFault, DrainingEndsWhenThePeersAreThrough) {
  for (const Mode mode : {Mode::packets, Mode::one_shot, Mode::two_shot}) {
    Group group(4);
    const GroupCall c = call_in(mode, 4);
    for (int i = 0; i < 5; ++i)
      group.enqueue(c);
    for (std::uint32_t r = 0; r < 4; ++r)
      ASSERT_CUDA(drain(group.endpoint(r), group.stream(r)));
    for (const Failure failure : group.finish())
      EXPECT_EQ(failure, Failure::none);
  }
}

}  // namespace
}  // namespace detccl::device::cuda::peer
