// SPDX-License-Identifier: Apache-2.0
// Split and shrink.
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

int rank_of(ncclComm_t comm) {
  int rank = -1;
  must(ncclCommUserRank(comm, &rank));
  return rank;
}

int size_of(ncclComm_t comm) {
  int size = -1;
  must(ncclCommCount(comm, &size));
  return size;
}

int sum_over(ncclComm_t comm, int value) {
  must(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, nullptr));
  return value;
}

TEST(Split, ByColorInTheOrderOfKeys) {
  on_ranks(6, [](int rank, ncclComm_t comm) {
    ncclComm_t child = nullptr;
    must(ncclCommSplit(comm, rank % 2, -rank, &child, nullptr));
    EXPECT_EQ(size_of(child), 3);
    EXPECT_EQ(rank_of(child), (4 + rank % 2 - rank) / 2) << "the highest key comes last";
    EXPECT_EQ(sum_over(child, rank), rank % 2 == 0 ? 6 : 9);
    EXPECT_EQ(sum_over(comm, 1), 6) << "the parent is as it was";
    must(ncclCommDestroy(child));
  });
}

TEST(Split, NoColorGetsNoCommunicator) {
  on_ranks(3, [](int rank, ncclComm_t comm) {
    ncclComm_t child = comm;
    must(ncclCommSplit(comm, rank == 1 ? NCCL_SPLIT_NOCOLOR : 5, 0, &child, nullptr));
    if (rank == 1) {
      EXPECT_EQ(child, nullptr);
    } else {
      EXPECT_EQ(sum_over(child, 1), 2);
      must(ncclCommDestroy(child));
    }
  });
}

TEST(Split, Arguments) {
  on_ranks(1, [](int, ncclComm_t comm) {
    ncclComm_t child = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, -2, 0, &child, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, nullptr, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(nullptr, 0, 0, &child, nullptr), ncclInvalidArgument);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.splitShare = 3;
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, &config), ncclInvalidArgument);
  });
}

/// A tree: halves, then quarters; parents destroyed before their children.
TEST(Split, Tree) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  on_threads(8, [&](int rank) {
    ncclComm_t whole = nullptr, half = nullptr, pair = nullptr;
    must(ncclCommInitRank(&whole, 8, id, rank));
    must(ncclCommSplit(whole, rank / 4, rank, &half, nullptr));
    must(ncclCommDestroy(whole));
    must(ncclCommSplit(half, rank_of(half) / 2, rank, &pair, nullptr));
    must(ncclCommDestroy(half));
    EXPECT_EQ(size_of(pair), 2);
    EXPECT_EQ(sum_over(pair, rank), rank / 2 * 4 + 1);
    must(ncclCommDestroy(pair));
  });
}

/// One thread, all ranks: the splits of a group meet each other.
TEST(Split, InAGroup) {
  ncclComm_t parents[4], children[4], others[4];
  must(ncclCommInitAll(parents, 4, nullptr));
  must(ncclGroupStart());
  for (int r = 0; r < 4; ++r)
    must(ncclCommSplit(parents[r], r / 2, 0, &children[r], nullptr));
  for (int r = 0; r < 4; ++r)
    must(ncclCommSplit(parents[r], 0, 3 - r, &others[r], nullptr));
  must(ncclGroupEnd());
  int values[4] = {1, 2, 3, 4};
  must(ncclGroupStart());
  for (int r = 0; r < 4; ++r) {
    must(ncclAllReduce(&values[r], &values[r], 1, ncclInt32, ncclSum, children[r], nullptr));
  }
  must(ncclGroupEnd());
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[3], 7);
  EXPECT_EQ(rank_of(others[0]), 3);
  for (auto* comms : {others, children, parents}) {
    for (int r = 0; r < 4; ++r)
      must(ncclCommDestroy(comms[r]));
  }
}

TEST(Split, Nonblocking) {
  on_ranks(2, [](int rank, ncclComm_t comm) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t child = nullptr;
    const ncclResult_t result = ncclCommSplit(comm, 0, 1 - rank, &child, &config);
    EXPECT_TRUE(result == ncclSuccess || result == ncclInProgress);
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
      must(ncclCommGetAsyncError(comm, &state));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    must(state);
    EXPECT_EQ(rank_of(child), 1 - rank);
    EXPECT_EQ(sum_over(child, 3), 6);
    must(ncclCommDestroy(child));
  });
}

/// The ring of a child passes its members in the order of the parent's.
TEST(Split, ChildrenInheritThePlacement) {
  const auto reduced = [&](const char* placement) {
    constexpr float kValues[] = {0, 0, 1e8f, -1e8f, 1};  // their sum shows in which order they came
    float result = -1;
    setenv("HOSTNCCL_PLACEMENT", placement, 1);
    on_ranks(5, [&](int rank, ncclComm_t comm) {
      ncclComm_t child = nullptr;
      must(ncclCommSplit(comm, rank == 0 ? NCCL_SPLIT_NOCOLOR : 0, 0, &child, nullptr));
      if (child == nullptr) return;
      float out = 0;
      must(ncclReduce(&kValues[rank], &out, 1, ncclFloat32, ncclSum, 0, child, nullptr));
      if (rank == 1) result = out;
      must(ncclCommDestroy(child));
    });
    unsetenv("HOSTNCCL_PLACEMENT");
    return result;
  };
  // The chain ends at rank 1, the child's root.
  EXPECT_EQ(reduced("0,1,2,3,4"), (1e8f + -1e8f) + 1.0f);
  EXPECT_EQ(reduced("1,3,4,0,2"), (-1e8f + 1.0f) + 1e8f);
}

TEST(Shrink, LeavesOutRanks) {
  on_ranks(4, [](int rank, ncclComm_t comm) {
    int excluded[] = {1};
    ncclComm_t child = nullptr;
    if (rank == 1) {
      EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
      return;
    }
    must(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT));
    EXPECT_EQ(size_of(child), 3);
    EXPECT_EQ(rank_of(child), rank == 0 ? 0 : rank - 1);
    EXPECT_EQ(sum_over(child, rank), 5);
    must(ncclCommDestroy(child));
  });
}

TEST(Shrink, AfterARankHasAborted) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  on_threads(3, [&](int rank) {
    ncclComm_t comm = nullptr, child = nullptr;
    must(ncclCommInitRank(&comm, 3, id, rank));
    if (rank == 2) return must(ncclCommAbort(comm));
    float value = 1;
    EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclRemoteError);
    int excluded[] = {2};
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclRemoteError);
    must(ncclCommShrink(comm, excluded, 1, &child, nullptr, NCCL_SHRINK_ABORT));
    EXPECT_EQ(sum_over(child, rank + 1), 3);
    must(ncclCommDestroy(child));
    must(ncclCommAbort(comm));
  });
}

}  // namespace
}  // namespace detccl::test
