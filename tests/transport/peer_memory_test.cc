// SPDX-License-Identifier: Apache-2.0
// What ranks conclude from each other's cards: no GPU. Mapping itself is tested where there are GPUs, by
// reductions.
#include <gtest/gtest.h>

#include "transport/peer/peer_memory.h"

namespace detccl::transport {
namespace {

TEST(PeerCards, TheFirstThatDoesNotFitIsNamed) {
  std::vector<PeerCard> cards(4);
  for (PeerCard& card : cards)
    card.host = 7, card.bytes = 1024;
  EXPECT_EQ(find_problem(cards), std::nullopt);
  cards[3].host = 8;
  EXPECT_EQ(find_problem(cards), "rank 3: it is on another host than rank 0");
  cards[2].bytes = 2048;
  EXPECT_EQ(find_problem(cards), "rank 2: it has another DETCCL_PEER_BLOCKS than rank 0");
  std::string("cudaMalloc: out of memory").copy(cards[1].problem.data(), 100);
  EXPECT_EQ(find_problem(cards), "rank 1: cudaMalloc: out of memory");
}

TEST(PeerCards, ARankThatKnowsWhyNotHasNoRegion) {
  const PeerMemory memory(7, 1024, "no NVLink joins it with rank 0");
  EXPECT_EQ(memory.card().region, nullptr);
  std::vector<PeerCard> cards(3, memory.card());
  cards[0].set_problem("");
  EXPECT_EQ(find_problem(cards), "rank 1: no NVLink joins it with rank 0");
  cards[2].set_problem("");
  cards[2].host = 8;
  EXPECT_EQ(find_problem(cards), "rank 1: no NVLink joins it with rank 0");
  cards[1].set_problem(std::string(1000, 'x'));
  EXPECT_EQ(find_problem(cards), "rank 1: " + std::string(cards[1].problem.size() - 1, 'x'));
}

TEST(PeerCards, AFailureIsInTheCard) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) GTEST_SKIP() << "there is a GPU";
  const PeerMemory memory(7, 1024);
  EXPECT_NE(find_problem(std::span(&memory.card(), 1)), std::nullopt);
}

}  // namespace
}  // namespace detccl::transport
