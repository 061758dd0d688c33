// SPDX-License-Identifier: Apache-2.0
// Communicators from their making to their end, in one process.
#include <dirent.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

int entries_of(const char* folder) {
  int count = 0;
  DIR* dir = opendir(folder);
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count;
}

/// Waits for what goes on in the background to be over.
void expect_soon(const std::function<bool()>& condition, const char* what) {
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (!condition() && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(condition()) << what;
}

ncclResult_t async_error(ncclComm_t comm) {
  ncclResult_t result = ncclSuccess;
  must(ncclCommGetAsyncError(comm, &result));
  return result;
}

ncclComm_t init_nonblocking(int ranks, const ncclUniqueId& id, int rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  EXPECT_TRUE(result == ncclSuccess || result == ncclInProgress) << result;
  EXPECT_NE(comm, nullptr);
  return comm;
}

void await_ready(ncclComm_t comm) {
  while (async_error(comm) == ncclInProgress) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(async_error(comm), ncclSuccess);
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
  for (int i : {1, 2, 0}) must(ncclCommDestroy(comms[i]));
}

TEST(Lifecycle, ManyCyclesLeaveNeitherThreadsNorDescriptors) {
  const auto cycle = [] {
    ncclComm_t comms[3];
    must(ncclCommInitAll(comms, 3, nullptr));
    int value[3] = {1, 2, 3};
    must(ncclGroupStart());
    for (int i = 0; i < 3; ++i) must(ncclAllReduce(&value[i], &value[i], 1, ncclInt32, ncclSum, comms[i], nullptr));
    must(ncclGroupEnd());
    EXPECT_EQ(value[2], 6);
    for (ncclComm_t comm : comms) must(ncclCommDestroy(comm));
  };
  for (int i = 0; i < 3; ++i) cycle();
  // What the transport opens once and keeps is open by now.
  const auto threads = [] { return entries_of("/proc/self/task"); };
  const auto descriptors = [] { return entries_of("/proc/self/fd"); };
  std::this_thread::sleep_for(milliseconds(300));
  const int threads_before = threads(), descriptors_before = descriptors();
  for (int i = 0; i < 25; ++i) cycle();
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

TEST(Lifecycle, AbortDuringInit) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  ncclComm_t nonblocking = init_nonblocking(2, id, 0);
  must(ncclCommAbort(nonblocking));
  EXPECT_EQ(ncclCommAbort(nonblocking), ncclInvalidArgument);

  // A blocking one is known to other threads while it waits.
  must(ncclGetUniqueId(&id));
  std::atomic<ncclResult_t> result{ncclSuccess};
  ncclComm_t blocking = nullptr;
  std::thread waiting([&] { result = ncclCommInitRank(&blocking, 2, id, 0); });
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = Clock::now();
  must(ncclCommAbort(std::atomic_ref(blocking).load()));
  waiting.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_NE(result.load(), ncclSuccess);
}

/// One rank waits for the other, which never comes; its own process aborts it.
TEST(Lifecycle, AbortFromAnotherThreadWhileWaiting) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  std::atomic<ncclResult_t> result{ncclSuccess};
  std::thread waiting([&] {
    float value = 1;
    result = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comms[0], nullptr);
  });
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = Clock::now();
  must(ncclCommAbort(comms[0]));
  waiting.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(result.load(), ncclInternalError);
  // The other rank is told.
  expect_soon([&] { return async_error(comms[1]) == ncclRemoteError; }, "the other rank knows nothing");
  float value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comms[1], nullptr), ncclRemoteError);
  EXPECT_NE(std::strstr(ncclGetLastError(comms[1]), "rank 0"), nullptr) << ncclGetLastError(comms[1]);
  must(ncclCommDestroy(comms[1]));
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

TEST(Lifecycle, Revoke) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  EXPECT_EQ(ncclCommRevoke(comms[0], 1), ncclInvalidArgument);
  std::atomic<ncclResult_t> result{ncclSuccess};
  std::thread waiting([&] {
    float value = 1;
    result = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comms[0], nullptr);
  });
  std::this_thread::sleep_for(milliseconds(50));
  must(ncclCommRevoke(comms[0], NCCL_REVOKE_DEFAULT));
  waiting.join();
  EXPECT_EQ(result.load(), ncclInvalidUsage);
  EXPECT_EQ(async_error(comms[0]), ncclSuccess);
  float value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclNumTypes, ncclSum, comms[0], nullptr),
            ncclInvalidUsage)
      << "revoked comes before the type";
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclInvalidUsage);
  must(ncclCommDestroy(comms[0]));
  must(ncclCommRevoke(comms[1], NCCL_REVOKE_DEFAULT));
  must(ncclCommDestroy(comms[1]));
}

TEST(Lifecycle, TwoThreadsOnOneCommunicator) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  float mine = 1, other = 2, unused = 0;
  std::thread waiting([&] { must(ncclAllReduce(&mine, &mine, 1, ncclFloat32, ncclSum, comms[0], nullptr)); });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(ncclAllReduce(&unused, &unused, 1, ncclFloat32, ncclSum, comms[0], nullptr), ncclInvalidUsage);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclInvalidUsage);
  must(ncclAllReduce(&other, &other, 1, ncclFloat32, ncclSum, comms[1], nullptr));
  waiting.join();
  EXPECT_EQ(mine, 3.0f);
  for (ncclComm_t comm : comms) must(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace detccl::test
