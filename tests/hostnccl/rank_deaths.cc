// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "rank.h"

namespace detccl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The failure must be a remote one, seen by every way to ask, and soon after `start`.
void expect_remote_error(Rank& r, ncclResult_t result, Clock::time_point start) {
  if (result != ncclRemoteError) failed("expected ncclRemoteError, not " + std::to_string(result));
  const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
  ncclResult_t async = ncclSuccess;
  must(ncclCommGetAsyncError(r.comm, &async));
  if (async != ncclRemoteError) failed("the asynchronous error is " + std::to_string(async));
  std::vector<float> data(1);
  if (reduce_once(r, data) != ncclRemoteError) failed("a later call does not know");
  std::printf("%s\nafter %ld ms\n", ncclGetLastError(r.comm), static_cast<long>(took));
  if (took > 4000) failed("too late");
}

int victim() {
  return std::atoi(std::getenv("TEST_VICTIM"));
}

}  // namespace

/// Large and small AllReduces until the victim dies in the middle.
void killed(Rank& r) {
  init(r);
  for (int i = 0;; ++i) {
    std::vector<float> data(i % 2 == 0 ? 3 : 300000, static_cast<float>(r.rank));
    if (r.rank == victim() && i == 20) std::raise(SIGKILL);
    const auto start = Clock::now();
    const ncclResult_t result = reduce_once(r, data);
    if (result == ncclSuccess) continue;
    expect_remote_error(r, result, start);
    break;
  }
  if (r.rank % 2 == 0) return must(ncclCommDestroy(r.comm));
  must(ncclCommAbort(r.comm));
}

/// Nobody runs anything: the death shows in ncclCommGetAsyncError.
void killed_while_idle(Rank& r) {
  init(r);
  std::vector<float> data(10);
  must(reduce_once(r, data));
  if (r.rank == victim()) std::raise(SIGKILL);
  const auto start = Clock::now();
  ncclResult_t async = ncclSuccess;
  while (async == ncclSuccess && Clock::now() - start < std::chrono::seconds(10)) {
    must(ncclCommGetAsyncError(r.comm, &async));
    std::this_thread::sleep_for(milliseconds(1));
  }
  expect_remote_error(r, async, start);
  must(ncclCommAbort(r.comm));
}

/// The victim has a child, which lives on and must not keep its sockets open.
void killed_with_children(Rank& r) {
  init(r);
  std::vector<float> data(10);
  must(reduce_once(r, data));
  if (r.rank == victim()) {
    if (fork() == 0) {
      sleep(20);
      _exit(0);
    }
    std::raise(SIGKILL);
  }
  const auto start = Clock::now();
  expect_remote_error(r, reduce_once(r, data), start);
  must(ncclCommAbort(r.comm));
}

/// Leaves without destroying its communicator.
void vanished(Rank& r) {
  init(r);
  std::vector<float> data(10);
  must(reduce_once(r, data));
  if (r.rank == victim()) std::exit(0);
  const auto start = Clock::now();
  expect_remote_error(r, reduce_once(r, data), start);
  must(ncclCommDestroy(r.comm));
}

}  // namespace detccl::test
