// SPDX-License-Identifier: Apache-2.0
// Communicators from their making to their end, in every way that NCCL knows.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "detccl/detccl.h"
#include "nccl_api/ranks.h"

namespace detccl::test {
namespace {

/// Sums 1 over all ranks and checks the result.
void expect_sum(ncclComm_t comm, const std::string& what) {
  int ranks = 0;
  require(ncclCommCount(comm, &ranks), ncclSuccess, "ncclCommCount");
  std::vector<float> data(1000, 1.0f);
  require(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, comm, nullptr),
          ncclSuccess, what + ": ncclAllReduce");
  for (const float value : data)
    require(value == static_cast<float>(ranks), what + ": sum");
}

ncclResult_t wait_until_ready(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    require(ncclCommGetAsyncError(comm, &state), ncclSuccess, "ncclCommGetAsyncError");
    std::this_thread::yield();
  }
  return state;
}

ncclConfig_t nonblocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

TEST(Lifecycle, SplitIntoHalvesAndNone) {
  const RunResult result = run_ranks(5, {}, [](Rank& rank) {
    const ncclComm_t world = rank.communicator();
    ncclComm_t half = nullptr;
    const int color = rank.rank() == 4 ? NCCL_SPLIT_NOCOLOR : rank.rank() % 2;
    require(ncclCommSplit(world, color, -rank.rank(), &half, nullptr), ncclSuccess, "ncclCommSplit");
    require((half == nullptr) == (rank.rank() == 4), "who has a communicator");
    if (half != nullptr) {
      expect_sum(half, "half");
      require(ncclCommDestroy(half), ncclSuccess, "ncclCommDestroy");
    }
    expect_sum(world, "parent");
    require(ncclCommDestroy(world), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, ShrinkLeavesOneOut) {
  const RunResult result = run_ranks(3, {}, [](Rank& rank) {
    const ncclComm_t world = rank.communicator();
    if (rank.rank() != 1) {
      int excluded = 1;
      ncclComm_t fewer = nullptr;
      require(ncclCommShrink(world, &excluded, 1, &fewer, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess,
              "ncclCommShrink");
      expect_sum(fewer, "shrunk");
      require(ncclCommDestroy(fewer), ncclSuccess, "ncclCommDestroy");
    }
    require(ncclCommDestroy(world), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, NonblockingFromInitToDestroy) {
  const RunResult result = run_ranks(3, {}, [](Rank& rank) {
    ncclConfig_t config = nonblocking();
    ncclComm_t comm = nullptr, child = nullptr;
    const ncclResult_t made =
        ncclCommInitRankConfig(&comm, rank.size(), rank.unique_id(), rank.rank(), &config);
    require(made == ncclSuccess || made == ncclInProgress, "ncclCommInitRankConfig: " + std::to_string(made));
    require(wait_until_ready(comm), ncclSuccess, "the new communicator");
    const ncclResult_t split = ncclCommSplit(comm, 0, rank.rank(), &child, nullptr);
    require(split == ncclSuccess || split == ncclInProgress, "ncclCommSplit: " + std::to_string(split));
    require(wait_until_ready(comm), ncclSuccess, "the split");
    require(child != nullptr, "the child is there");
    require(wait_until_ready(child), ncclSuccess, "the child");
    // In one group, both for the first time.
    std::array<float, 2> data = {1, 1};
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclAllReduce(&data[0], &data[0], 1, ncclFloat32, ncclSum, child, nullptr), ncclSuccess, "child");
    require(ncclAllReduce(&data[1], &data[1], 1, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess, "parent");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    require(data[0] == 3 && data[1] == 3, "sums");
    expect_sum(comm, "parent");
    for (const ncclComm_t c : {child, comm}) {
      const ncclResult_t final = ncclCommFinalize(c);
      require(final == ncclSuccess || final == ncclInProgress, "ncclCommFinalize");
      require(wait_until_ready(c), ncclSuccess, "the end");
      require(ncclCommDestroy(c), ncclSuccess, "ncclCommDestroy");
    }
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, AReductionBeforeTheCommunicatorIsReadyIsRefused) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclUniqueId id = rank.unique_id();
    if (rank.rank() == 1) {
      // The other one cannot be ready before this rank comes.
      rank.barrier();
    }
    ncclConfig_t config = nonblocking();
    ncclComm_t comm = nullptr;
    static_cast<void>(ncclCommInitRankConfig(&comm, 2, id, rank.rank(), &config));
    if (rank.rank() == 0) {
      float value = 1;
      const ncclResult_t early = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr);
      require(early == ncclInvalidArgument || early == ncclInvalidUsage,
              "too early: " + std::to_string(early));
      rank.barrier();
    }
    require(wait_until_ready(comm), ncclSuccess, "the communicator");
    expect_sum(comm, "later");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++count;
  return count;
}

/// Descriptors and threads, once what lingers has ended.
std::size_t resources() {
  return entries("/proc/self/fd") + 1000 * entries("/proc/self/task");
}

TEST(Lifecycle, ManyCyclesLeakNothing) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t world = rank.communicator();
    const auto cycle = [&] {
      ncclComm_t comm = nullptr;
      require(ncclCommSplit(world, 0, rank.rank(), &comm, nullptr), ncclSuccess, "ncclCommSplit");
      expect_sum(comm, "cycle");
      require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
    };
    for (int i = 0; i < 3; ++i)
      cycle();
    rank.barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const std::size_t before = resources();
    for (int i = 0; i < 30; ++i)
      cycle();
    rank.barrier();
    std::size_t after = resources();
    for (int i = 0; after > before && i < 50; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      after = resources();
    }
    require(after <= before, "descriptors + 1000 * threads: " + std::to_string(before) + " before, " +
                                 std::to_string(after) + " after");
    require(ncclCommDestroy(world), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// One rank leaves at once, the others are slow to read what it has sent.
TEST(Lifecycle, ARankMayLeaveFirst) {
  for (const bool destroy : {true, false}) {
    const RunResult result = run_ranks(3, {}, [destroy](Rank& rank) {
      const ncclComm_t comm = rank.communicator();
      expect_sum(comm, "warm");
      std::vector<float> in(200000, 1.0f), out(200000);
      require(ncclReduce(in.data(), out.data(), in.size(), ncclFloat32, ncclSum, 2, comm, nullptr),
              ncclSuccess, "ncclReduce");
      if (rank.rank() == 2) require(out.front() == 3 && out.back() == 3, "sum");
      if (destroy) require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
    });
    EXPECT_TRUE(result.ok()) << result.report();
    EXPECT_LT(result.seconds, 30);
  }
}

/// Runs a reduction that cannot end, as rank 1 does not join it, and `interrupt`s it from another thread.
void expect_interrupted(Rank& rank, ncclComm_t comm, const std::function<void()>& interrupt) {
  if (rank.rank() == 0) {
    std::vector<float> data(100000, 1.0f);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      interrupt();
    });
    const auto start = std::chrono::steady_clock::now();
    const ncclResult_t ended =
        ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, comm, nullptr);
    other.join();
    require(ended != ncclSuccess, "the reduction ends with an error");
    require(std::chrono::steady_clock::now() - start < std::chrono::seconds(5), "and soon");
  }
  rank.barrier();
}

TEST(Lifecycle, AbortReachesAWaitingReduction) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    expect_sum(comm, "before");
    std::atomic<int> aborted{-1};
    expect_interrupted(rank, comm, [&] { aborted = ncclCommAbort(comm); });
    if (rank.rank() == 0) {
      require(aborted == ncclSuccess, "ncclCommAbort: " + std::to_string(aborted));
      float value = 1;
      require(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidArgument,
              "a reduction on what was aborted");
    } else {
      require(ncclCommAbort(comm), ncclSuccess, "ncclCommAbort");
    }
    // A new life, perhaps at the old address.
    const ncclComm_t again = rank.communicator(1);
    expect_sum(again, "after");
    require(ncclCommDestroy(again), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, RevokeReachesAWaitingReduction) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    expect_interrupted(rank, comm, [&] {
      require(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess, "ncclCommRevoke");
    });
    if (rank.rank() == 1) require(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess, "ncclCommRevoke");
    float value = 1;
    require(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidUsage,
            "a reduction on a revoked communicator");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, AbortInEveryState) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    require(ncclCommAbort(rank.communicator(0)), ncclSuccess, "abort of a fresh communicator");
    const ncclComm_t used = rank.communicator(1);
    expect_sum(used, "used");
    rank.barrier();  // an abort would end the other's reduction too
    require(ncclCommAbort(used), ncclSuccess, "abort of a used communicator");
    const ncclComm_t finalized = rank.communicator(2);
    require(ncclCommFinalize(finalized), ncclSuccess, "ncclCommFinalize");
    float value = 1;
    const ncclResult_t late = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, finalized, nullptr);
    require(late != ncclSuccess, "a reduction after ncclCommFinalize");
    rank.barrier();  // likewise its ncclCommFinalize
    require(ncclCommAbort(finalized), ncclSuccess, "abort of a finalized communicator");
    require(ncclCommAbort(nullptr) != ncclInternalError, "abort of nothing");
    const ncclComm_t last = rank.communicator(3);
    expect_sum(last, "last");
    require(ncclCommDestroy(last), ncclSuccess, "ncclCommDestroy");
    require(ncclCommDestroy(last), ncclInvalidArgument, "ncclCommDestroy once more");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// Ranks of one communicator in threads of one process, each calling on its own.
TEST(Lifecycle, ThreadsOfOneProcess) {
  const RunResult result = run_ranks(1, {}, [](Rank& rank) {
    const ncclUniqueId id = rank.unique_id();
    std::array<std::string, 4> failures;
    std::vector<std::thread> threads;
    for (int r = 0; r < 4; ++r) {
      threads.emplace_back([&, r] {
        try {
          ncclComm_t comm = nullptr;
          require(ncclCommInitRank(&comm, 4, id, r), ncclSuccess, "ncclCommInitRank");
          for (int i = 0; i < 20; ++i)
            expect_sum(comm, "thread");
          require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
        } catch (const std::exception& e) {
          failures[static_cast<std::size_t>(r)] = e.what();
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (const std::string& failure : failures)
      require(failure.empty(), failure);
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Lifecycle, TheContractCanBeAsked) {
  RunOptions options;
  options.environment = {{"DETCCL_CONTRACT", "tree:wide/8"}};
  const RunResult result = run_ranks(1, options, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    char text[64];
    require(detcclCommContract(comm, text, sizeof text), ncclSuccess, "detcclCommContract");
    require(text == std::string("tree/8") || text == std::string("tree:wide/8"), text);
    require(detcclCommContract(comm, text, 4), ncclInvalidArgument, "too small");
    require(detcclCommContract(nullptr, text, sizeof text), ncclInvalidArgument, "no communicator");
    require(std::string(detcclVersion()) == DETCCL_VERSION, "detcclVersion");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

}  // namespace
}  // namespace detccl::test
