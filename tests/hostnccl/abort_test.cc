// SPDX-License-Identifier: Apache-2.0
// Abort and revoke, while something waits.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "nonblocking.h"
#include "ranks.h"

namespace detccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(Abort, DuringInit) {
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
  expect_soon([&] { return std::atomic_ref(blocking).load() != nullptr; }, "its handle is not known");
  const auto start = Clock::now();
  must(ncclCommAbort(std::atomic_ref(blocking).load()));
  waiting.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(90));
  EXPECT_NE(result.load(), ncclSuccess);
}

/// One rank waits for the other, which never comes; its own process aborts it.
TEST(Abort, FromAnotherThreadWhileWaiting) {
  ncclComm_t comms[2];
  must(ncclCommInitAll(comms, 2, nullptr));
  std::atomic<ncclResult_t> result{ncclSuccess};
  std::atomic<bool> begun{false};
  std::thread waiting([&] {
    float value = 1;
    begun = true;
    result = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comms[0], nullptr);
  });
  await_waiting(begun);
  const auto start = Clock::now();
  must(ncclCommAbort(comms[0]));
  waiting.join();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(90));
  EXPECT_EQ(result.load(), ncclInternalError);
  // The other rank is told.
  expect_soon([&] { return async_error(comms[1]) == ncclRemoteError; }, "the other rank knows nothing");
  float value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comms[1], nullptr), ncclRemoteError);
  EXPECT_NE(std::strstr(ncclGetLastError(comms[1]), "rank 0"), nullptr) << ncclGetLastError(comms[1]);
  must(ncclCommDestroy(comms[1]));
}

TEST(Revoke, EndsWhatWaits) {
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
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclNumTypes, ncclSum, comms[0], nullptr), ncclInvalidUsage)
      << "revoked comes before the type";
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclInvalidUsage);
  must(ncclCommDestroy(comms[0]));
  must(ncclCommRevoke(comms[1], NCCL_REVOKE_DEFAULT));
  must(ncclCommDestroy(comms[1]));
}

}  // namespace
}  // namespace detccl::test
