// SPDX-License-Identifier: Apache-2.0
// Communicators that are made in the background, and waiting for what goes on there.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "ranks.h"

namespace detccl::test {

/// Waits for what goes on in the background to be over.
inline void expect_soon(const std::function<bool()>& condition, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (!condition() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(condition()) << what;
}

/// A thread that has set `begun` is most probably within its next call when this returns.
inline void await_waiting(const std::atomic<bool>& begun) {
  while (!begun)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

inline ncclResult_t async_error(ncclComm_t comm) {
  ncclResult_t result = ncclSuccess;
  must(ncclCommGetAsyncError(comm, &result));
  return result;
}

inline ncclComm_t init_nonblocking(int ranks, const ncclUniqueId& id, int rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const ncclResult_t result = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  EXPECT_TRUE(result == ncclSuccess || result == ncclInProgress) << result;
  EXPECT_NE(comm, nullptr);
  return comm;
}

inline void await_ready(ncclComm_t comm) {
  while (async_error(comm) == ncclInProgress)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(async_error(comm), ncclSuccess);
}

}  // namespace detccl::test
