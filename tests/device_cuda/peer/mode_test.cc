// SPDX-License-Identifier: Apache-2.0
// Which way a call over peer memory goes. Needs no GPU.
#include <cstdint>

#include <gtest/gtest.h>

#include "contract/element.h"
#include "device/cuda/peer/peer.h"

namespace detccl::device::cuda::peer {
namespace {

using plan::Collective;

TEST(PeerMode, FitsAndNeverTurnsBackAsCallsGrow) {
  const Limits limits;
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::reduce}) {
    for (std::uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks) {
      for (const std::uint32_t blocks : {1U, 8U, 32U, kMaxBlocks}) {
        const Layout layout = layout_for(ranks, blocks);
        Mode before = Mode::packets;
        for (std::uint64_t count = 1; count <= 1U << 22; count += 1 + count / 7) {
          Call call;
          call.collective = collective;
          call.count = count;
          call.arithmetic.type = contract::DataType::float32;
          const auto mode = choose_mode(call, layout, limits);
          ASSERT_TRUE(mode.has_value());
          EXPECT_TRUE(fits(call, *mode, layout));
          EXPECT_GE(*mode, before) << count << " elements, " << ranks << " ranks, " << blocks << " blocks";
          before = *mode;
          const std::uint64_t sent = count * sizeof(float) * (ranks - 1);
          if (*mode == Mode::packets) {
            EXPECT_LE(sent, limits.packets);
          } else if (*mode == Mode::shard_packets) {
            EXPECT_LE(2 * sent / ranks, limits.shard_packets);
            EXPECT_GT(ranks, 2U) << "where one way is all, the values go everywhere";
            EXPECT_NE(collective, Collective::reduce_scatter);
          } else if (*mode == Mode::one_shot) {
            EXPECT_LE(sent, limits.one_shot);
            EXPECT_NE(collective, Collective::reduce_scatter);
          }
        }
        EXPECT_EQ(before, Mode::two_shot) << "long calls";
      }
    }
  }
}

TEST(PeerMode, ThereIsNoneForOneRankOrTooMany) {
  for (const std::uint32_t ranks : {1U, kMaxRanks + 1}) {
    Call call;
    call.count = 1;
    EXPECT_FALSE(choose_mode(call, Layout{ranks, 8, 1024}, {}).has_value()) << ranks;
  }
}

TEST(PeerLayout, SlotsTakeNoMoreThanTheyMay) {
  constexpr std::uint64_t kSlotsAtMost = 64U << 20;
  for (std::uint32_t ranks = 2; ranks <= kMaxRanks; ++ranks) {
    for (std::uint32_t blocks = 1; blocks <= kMaxBlocks; ++blocks) {
      const Layout layout = layout_for(ranks, blocks);
      EXPECT_EQ(layout.piece % 16, 0U);
      EXPECT_GE(layout.piece, 2048U) << "the least piece of a partition";
      EXPECT_LE(layout.bytes() - layout.raw(0, 0, 0), kSlotsAtMost);
    }
  }
}

}  // namespace
}  // namespace detccl::device::cuda::peer
