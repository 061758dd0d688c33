// SPDX-License-Identifier: Apache-2.0
// Collectives that only move data, and send and receive.
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

using Block = std::vector<std::int32_t>;

/// What rank `from` has for rank `to`: `count` numbers that nobody else has.
Block block(int from, int to, std::size_t count) {
  Block values(count);
  std::iota(values.begin(), values.end(), (from * 64 + to) * 300000);
  return values;
}

Block joined(const std::vector<Block>& blocks) {
  Block all;
  for (const Block& b : blocks)
    all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// make(r) for all ranks r, one after the other.
template <typename Make>
Block for_all(int ranks, const Make& make) {
  std::vector<Block> blocks;
  for (int rank = 0; rank < ranks; ++rank)
    blocks.push_back(make(rank));
  return joined(blocks);
}

class Movement : public testing::TestWithParam<std::pair<int, std::size_t>> {
 protected:
  int ranks() const { return GetParam().first; }
  std::size_t count() const { return GetParam().second; }
  std::size_t total() const { return count() * static_cast<std::size_t>(ranks()); }
};

TEST_P(Movement, AllGather) {
  on_ranks(ranks(), [&](int rank, ncclComm_t comm) {
    const Block own = block(rank, 0, count());
    const Block expected = for_all(ranks(), [&](int r) { return block(r, 0, count()); });
    Block all(total());
    must(ncclAllGather(own.data(), all.data(), count(), ncclInt32, comm, nullptr));
    EXPECT_EQ(all, expected);
    Block in_place(total());
    std::int32_t* const place = in_place.data() + static_cast<std::size_t>(rank) * count();
    std::copy(own.begin(), own.end(), place);
    must(ncclAllGather(place, in_place.data(), count(), ncclInt32, comm, nullptr));
    EXPECT_EQ(in_place, expected);
  });
}

TEST_P(Movement, BroadcastFromEveryRoot) {
  on_ranks(ranks(), [&](int rank, ncclComm_t comm) {
    for (int root = 0; root < ranks(); ++root) {
      const Block expected = block(root, 1, count());
      Block data = rank == root ? expected : Block(count());
      Block received(count());
      must(ncclBroadcast(rank == root ? data.data() : nullptr, received.data(), count(), ncclInt32, root,
                         comm, nullptr));
      EXPECT_EQ(received, expected);
      must(ncclBcast(data.data(), count(), ncclInt32, root, comm, nullptr));
      EXPECT_EQ(data, expected);
    }
  });
}

TEST_P(Movement, AllToAll) {
  on_ranks(ranks(), [&](int rank, ncclComm_t comm) {
    const Block sent = for_all(ranks(), [&](int to) { return block(rank, to, count()); });
    Block received(total());
    must(ncclAlltoAll(sent.data(), received.data(), count(), ncclInt32, comm, nullptr));
    EXPECT_EQ(received, for_all(ranks(), [&](int from) { return block(from, rank, count()); }));
  });
}

TEST_P(Movement, GatherAndScatter) {
  on_ranks(ranks(), [&](int rank, ncclComm_t comm) {
    const int root = ranks() - 1;
    const Block own = block(rank, root, count());
    const Block gathered = for_all(ranks(), [&](int r) { return block(r, root, count()); });
    Block all(rank == root ? total() : 0), back(count());
    must(
        ncclGather(own.data(), rank == root ? all.data() : nullptr, count(), ncclInt32, root, comm, nullptr));
    if (rank == root) {
      EXPECT_EQ(all, gathered);
    }
    must(ncclScatter(rank == root ? all.data() : nullptr, back.data(), count(), ncclInt32, root, comm,
                     nullptr));
    EXPECT_EQ(back, own);
    if (rank == root) {  // in place on both ways
      std::int32_t* const place = all.data() + static_cast<std::size_t>(root) * count();
      must(ncclGather(place, all.data(), count(), ncclInt32, root, comm, nullptr));
      EXPECT_EQ(all, gathered);
      must(ncclScatter(all.data(), place, count(), ncclInt32, root, comm, nullptr));
      EXPECT_EQ(all, gathered);
    } else {
      must(ncclGather(own.data(), nullptr, count(), ncclInt32, root, comm, nullptr));
      must(ncclScatter(nullptr, back.data(), count(), ncclInt32, root, comm, nullptr));
      EXPECT_EQ(back, own);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(RanksAndCounts, Movement,
                         testing::Values(std::pair(1, 17u), std::pair(2, 1u), std::pair(3, 1000u),
                                         std::pair(4, 150000u), std::pair(7, 33u)));

TEST(PointToPoint, RingInAGroupAndPairsWithout) {
  on_ranks(4, [](int rank, ncclComm_t comm) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, std::size_t{300000}}) {
      const int next = (rank + 1) % 4, previous = (rank + 3) % 4;
      const Block sent = block(rank, next, count);
      Block received(count), answered(count);
      must(ncclGroupStart());
      must(ncclSend(count ? sent.data() : nullptr, count, ncclInt32, next, comm, nullptr));
      must(ncclRecv(count ? received.data() : nullptr, count, ncclInt32, previous, comm, nullptr));
      must(ncclGroupEnd());
      EXPECT_EQ(received, block(previous, rank, count));
      // Outside a group: even ranks begin.
      if (rank % 2 == 0) {
        must(ncclSend(sent.data(), count, ncclInt32, next, comm, nullptr));
      } else {
        must(ncclRecv(answered.data(), count, ncclInt32, previous, comm, nullptr));
        EXPECT_EQ(answered, block(previous, rank, count));
      }
    }
  });
}

/// Several messages between the same two ranks pair in the order of issue, within a group and over groups.
TEST(PointToPoint, OrderBetweenTwoRanks) {
  on_ranks(2, [](int rank, ncclComm_t comm) {
    constexpr int kMessages = 40;
    std::vector<Block> blocks(kMessages);
    for (int i = 0; i < kMessages; ++i) {
      const auto count = static_cast<std::size_t>(i * i * 7);
      blocks[static_cast<std::size_t>(i)] = rank == 0 ? block(i, 1, count) : Block(count);
    }
    if (rank == 0) must(ncclGroupStart());  // one group there, one call after the other here
    for (Block& b : blocks) {
      if (rank == 0) {
        must(ncclSend(b.data(), b.size(), ncclInt32, 1, comm, nullptr));
      } else {
        must(ncclRecv(b.data(), b.size(), ncclInt32, 0, comm, nullptr));
      }
    }
    if (rank == 0) must(ncclGroupEnd());
    for (int i = 0; i < kMessages; ++i) {
      const Block& b = blocks[static_cast<std::size_t>(i)];
      EXPECT_EQ(b, block(i, 1, b.size()));
    }
  });
}

TEST(PointToPoint, ToItself) {
  on_ranks(2, [](int rank, ncclComm_t comm) {
    const Block first = block(rank, 1, 100), second = block(rank, 2, 7);
    Block to_first(100), to_second(7);
    must(ncclGroupStart());
    must(ncclSend(first.data(), 100, ncclInt32, rank, comm, nullptr));
    must(ncclRecv(to_first.data(), 100, ncclInt32, rank, comm, nullptr));
    must(ncclSend(second.data(), 7, ncclInt32, rank, comm, nullptr));
    must(ncclRecv(to_second.data(), 7, ncclInt32, rank, comm, nullptr));
    must(ncclGroupEnd());
    EXPECT_EQ(to_first, first);
    EXPECT_EQ(to_second, second);
    EXPECT_EQ(ncclSend(first.data(), 100, ncclInt32, rank, comm, nullptr), ncclInvalidUsage);
    must(
        ncclAllReduce(first.data(), to_first.data(), 100, ncclInt32, ncclMax, comm, nullptr));  // still sound
  });
}

}  // namespace
}  // namespace detccl::test
