// SPDX-License-Identifier: Apache-2.0
// Communicators from their making to their end, in one process.
#include <dirent.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "nonblocking.h"
#include "ranks.h"

namespace detccl::test {
namespace {

using std::chrono::milliseconds;

int entries_of(const char* folder) {
  int count = 0;
  DIR* dir = opendir(folder);
  while (readdir(dir) != nullptr)
    ++count;
  closedir(dir);
  return count;
}

TEST(Lifecycle, InitAllKnowsRanksAndDevices) {
  const int devices[] = {4, 0, 2};
  ncclComm_t comms[3];
  must(ncclCommInitAll(comms, 3, devices));
  for (int i = 0; i < 3; ++i) {
    int count = 0, rank = 0, device = 0;
    must(ncclCommCount(comms[i], &count));
    must(ncclCommUserRank(comms[i], &rank));
    must(ncclCommCuDevice(comms[i], &device));
    EXPECT_EQ(count, 3);
    EXPECT_EQ(rank, i);
    EXPECT_EQ(device, devices[i]);
  }
  for (int i : {1, 2, 0})
    must(ncclCommDestroy(comms[i]));
}

TEST(Lifecycle, ManyCyclesLeaveNeitherThreadsNorDescriptors) {
  const auto cycle = [] {
    ncclComm_t comms[3];
    must(ncclCommInitAll(comms, 3, nullptr));
    int value[3] = {1, 2, 3};
    must(ncclGroupStart());
    for (int i = 0; i < 3; ++i)
      must(ncclAllReduce(&value[i], &value[i], 1, ncclInt32, ncclSum, comms[i], nullptr));
    must(ncclGroupEnd());
    EXPECT_EQ(value[2], 6);
    for (ncclComm_t comm : comms)
      must(ncclCommDestroy(comm));
  };
  for (int i = 0; i < 3; ++i)
    cycle();
  // What the transport opens once and keeps is open by now.
  const auto threads = [] { return entries_of("/proc/self/task"); };
  const auto descriptors = [] { return entries_of("/proc/self/fd"); };
  std::this_thread::sleep_for(milliseconds(300));
  const int threads_before = threads(), descriptors_before = descriptors();
  for (int i = 0; i < 25; ++i)
    cycle();
  expect_soon([&] { return threads() <= threads_before; }, "threads are left");
  expect_soon([&] { return descriptors() <= descriptors_before; }, "descriptors are left");
}

TEST(Lifecycle, ScalableInitUsesAnyNumberOfIds) {
  ncclUniqueId ids[2];
  must(ncclGetUniqueId(&ids[0]));
  must(ncclGetUniqueId(&ids[1]));
  on_threads(3, [&](int rank) {
    ncclComm_t comm;
    must(ncclCommInitRankScalable(&comm, 3, rank, 2, ids, nullptr));
    int value = 1;
    must(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, nullptr));
    EXPECT_EQ(value, 3);
    must(ncclCommDestroy(comm));
  });
}

TEST(Lifecycle, NonblockingInit) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  ncclComm_t first = init_nonblocking(2, id, 0);
  EXPECT_EQ(async_error(first), ncclInProgress);
  int value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, first, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCount(first, &value), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(first), ncclInvalidArgument) << "it is still being made";
  ncclComm_t second = init_nonblocking(2, id, 1);
  await_ready(first);
  await_ready(second);
  int values[2] = {1, 2};
  must(ncclGroupStart());
  must(ncclAllReduce(&values[0], &values[0], 1, ncclInt32, ncclSum, first, nullptr));
  must(ncclAllReduce(&values[1], &values[1], 1, ncclInt32, ncclSum, second, nullptr));
  must(ncclGroupEnd());
  EXPECT_EQ(values[0] + values[1], 6);
  must(ncclCommFinalize(first));
  must(ncclCommDestroy(first));
  must(ncclCommDestroy(second));
}

/// Whoever sees it ready has it for himself: nothing that made it is still at work on it.
TEST(Lifecycle, AReadyCommunicatorCanBeUsedAtOnce) {
  for (int round = 0; round < 40; ++round) {
    ncclUniqueId id;
    must(ncclGetUniqueId(&id));
    ncclComm_t comm = init_nonblocking(1, id, 0);
    while (async_error(comm) == ncclInProgress)
      std::this_thread::sleep_for(std::chrono::microseconds(1));  // waking up, it takes the core of the other
    int value = 3;
    must(ncclAllReduce(&value, &value, 1, ncclInt32, ncclSum, comm, nullptr));
    must(ncclCommDestroy(comm));
  }
}

TEST(Lifecycle, FinalizeThenDestroy) {
  on_threads(1, [](int) {
    ncclComm_t comm;
    must(ncclCommInitAll(&comm, 1, nullptr));
    must(ncclCommFinalize(comm));
    float value = 1;
    EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidUsage);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidArgument);
    must(ncclCommDestroy(comm));
    EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(nullptr), ncclInvalidArgument);
  });
}

/// Destroy waits for the operations of its group.
TEST(Lifecycle, DestroyInAGroup) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  int values[2] = {1, 2};
  must(ncclGroupStart());
  for (int i = 0; i < 2; ++i) {
    must(ncclAllReduce(&values[i], &values[i], 1, ncclInt32, ncclSum, comms[i], nullptr));
    must(ncclCommFinalize(comms[i]));
    must(ncclCommDestroy(comms[i]));
  }
  must(ncclGroupEnd());
  EXPECT_EQ(values[0] + values[1], 6);
}

TEST(Lifecycle, TwoThreadsOnOneCommunicator) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  float mine = 1, other = 2, unused = 0;
  std::atomic<bool> begun{false};
  std::thread waiting([&] {
    begun = true;
    must(ncclAllReduce(&mine, &mine, 1, ncclFloat32, ncclSum, comms[0], nullptr));
  });
  await_waiting(begun);
  EXPECT_EQ(ncclAllReduce(&unused, &unused, 1, ncclFloat32, ncclSum, comms[0], nullptr), ncclInvalidUsage);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclInvalidUsage);
  must(ncclAllReduce(&other, &other, 1, ncclFloat32, ncclSum, comms[1], nullptr));
  waiting.join();
  EXPECT_EQ(mine, 3.0f);
  for (ncclComm_t comm : comms)
    must(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace detccl::test
