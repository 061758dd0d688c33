// SPDX-License-Identifier: Apache-2.0
#include "transport/loop/loop_fabric.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::transport {
namespace {

using State = Completion::State;

TEST(Loop, ASendCompletesOnlyWhenItsReceiveIsPosted) {
  LoopFabric fabric(2);
  const auto a = fabric.exchange(0), b = fabric.exchange(1);
  const std::vector<int> sent = {1, 2, 3};
  std::vector<int> received(3);
  Completion send, receive;
  a->send(1, 7, sent.data(), 12, send);
  for (int i = 0; i < 10; ++i) {
    a->progress();
    b->progress();
  }
  EXPECT_EQ(send.state, State::pending);
  b->receive(0, 7, received.data(), 12, receive);
  EXPECT_EQ(send.state, State::done);
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(a->failure(), "");
}

TEST(Loop, TagsMatchInAnyOrderAndEqualTagsInTheOrderOfPosting) {
  LoopFabric fabric(2);
  const auto a = fabric.exchange(0), b = fabric.exchange(1);
  const std::uint64_t top = (std::uint64_t{1} << 48) - 1;
  const std::vector<int> values = {10, 11, 20, 21};
  std::vector<int> got(4);
  std::vector<Completion> done(9);
  b->receive(0, top, &got[2], 4, done[0]);
  b->receive(0, top, &got[3], 4, done[1]);
  a->send(1, 5, &values[0], 4, done[2]);
  a->send(1, 5, &values[1], 4, done[3]);
  a->send(1, top, &values[2], 4, done[4]);
  a->send(1, top, &values[3], 4, done[5]);
  b->receive(0, 5, &got[0], 4, done[6]);
  EXPECT_EQ(done[3].state, State::pending);
  b->receive(0, 5, &got[1], 4, done[7]);
  b->send(0, 5, nullptr, 0, done[8]);  // the other direction is another channel
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(done[static_cast<std::size_t>(i)].state, State::done) << i;
  EXPECT_EQ(done[8].state, State::pending);
  EXPECT_EQ(got, values);
}

TEST(Loop, AnEmptyMessageIsAMessage) {
  LoopFabric fabric(2);
  const auto a = fabric.exchange(0), b = fabric.exchange(1);
  Completion send, receive;
  b->receive(0, 0, nullptr, 0, receive);
  EXPECT_EQ(receive.state, State::pending);
  a->send(1, 0, nullptr, 0, send);
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(send.state, State::done);
}

TEST(Loop, DifferentSizesFailBothSides) {
  LoopFabric fabric(2);
  const auto a = fabric.exchange(0), b = fabric.exchange(1);
  char data[8] = {}, room[8] = {};
  Completion send, receive;
  a->send(1, 1, data, 8, send);
  b->receive(0, 1, room, 7, receive);
  EXPECT_EQ(send.state, State::failed);
  EXPECT_EQ(receive.state, State::failed);
  EXPECT_EQ(a->failure(), "rank 0 sent 8 bytes where rank 1 expected 7");
  EXPECT_EQ(b->failure(), a->failure());
}

TEST(Loop, NothingOfARankThatAbandonsIsTouchedAndItsPeersAreTold) {
  LoopFabric fabric(3);
  const auto a = fabric.exchange(0), b = fabric.exchange(1), c = fabric.exchange(2);
  int room = 42, theirs = 0;
  const int value = 1;
  Completion own_receive, own_send, to_it, from_it, unrelated, later;
  b->receive(0, 1, &room, 4, own_receive);
  b->send(0, 2, &value, 4, own_send);
  c->send(1, 1, &value, 4, to_it);
  c->receive(1, 1, &theirs, 4, from_it);
  c->receive(0, 1, &theirs, 4, unrelated);
  b->abandon();
  a->send(1, 1, &value, 4, later);
  EXPECT_EQ(own_receive.state, State::pending);
  EXPECT_EQ(own_send.state, State::pending);
  EXPECT_EQ(room, 42);
  EXPECT_EQ(to_it.state, State::failed);
  EXPECT_EQ(from_it.state, State::failed);
  EXPECT_EQ(later.state, State::failed);
  EXPECT_EQ(unrelated.state, State::pending);
  EXPECT_EQ(b->failure(), "abandoned");
  EXPECT_EQ(c->failure(), "rank 1 has left");
  EXPECT_EQ(a->failure(), "rank 1 has left");
}

TEST(Loop, ADestroyedExchangeHasLeft) {
  auto fabric = std::make_unique<LoopFabric>(2);
  const auto a = fabric->exchange(0);
  auto b = fabric->exchange(1);
  EXPECT_THROW(fabric->exchange(1), std::logic_error);
  EXPECT_THROW(fabric->exchange(2), std::out_of_range);
  fabric.reset();  // the exchanges keep what they need
  int room = 0;
  Completion receive;
  a->receive(1, 1, &room, 4, receive);
  b.reset();
  EXPECT_EQ(receive.state, State::failed);
}

/// Every rank in a thread of its own sends every other one messages of random sizes, in shuffled order.
TEST(Loop, RanksInThreads) {
  constexpr std::uint32_t kRanks = 5, kMessages = 40;
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", static_cast<int>(seed));
  SCOPED_TRACE(seed);
  const auto size_of = [](std::uint32_t from, std::uint32_t to, std::uint32_t k) {
    return static_cast<std::size_t>((from * 977 + to * 331 + k * 7919) % 5000);
  };
  const auto byte_of = [](std::uint32_t from, std::uint32_t to, std::uint32_t k) {
    return static_cast<unsigned char>(from * 16 + to * 64 + k);
  };
  LoopFabric fabric(kRanks);
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (std::uint32_t r = 0; r < kRanks; ++r)
    exchanges.push_back(fabric.exchange(r));
  std::vector<int> wrong(kRanks, 0);
  const auto drive = [&](std::uint32_t rank) {
    struct Op {
      std::uint32_t peer, k;
      bool send;
    };
    std::vector<Op> ops;
    for (std::uint32_t peer = 0; peer < kRanks; ++peer)
      for (std::uint32_t k = 0; peer != rank && k < kMessages; ++k) {
        ops.push_back({peer, k, true});
        ops.push_back({peer, k, false});
      }
    std::mt19937 random(seed + rank);
    std::shuffle(ops.begin(), ops.end(), random);
    std::vector<std::vector<unsigned char>> data;
    std::vector<Completion> completions(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto [peer, k, send] = ops[i];
      if (send) {
        data.emplace_back(size_of(rank, peer, k), byte_of(rank, peer, k));
        exchanges[rank]->send(peer, k, data.back().data(), data.back().size(), completions[i]);
      } else {
        data.emplace_back(size_of(peer, rank, k));
        exchanges[rank]->receive(peer, k, data.back().data(), data.back().size(), completions[i]);
      }
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
      while (completions[i].state.load(std::memory_order_acquire) == State::pending)
        std::this_thread::yield();
      const auto [peer, k, send] = ops[i];
      const auto expected = send ? byte_of(rank, peer, k) : byte_of(peer, rank, k);
      for (const unsigned char byte : data[i])
        wrong[rank] += byte != expected;
      wrong[rank] += completions[i].state != State::done;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t r = 0; r < kRanks; ++r)
    threads.emplace_back(drive, r);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0) << "seed " << seed;
}

}  // namespace
}  // namespace detccl::transport
