// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of the test's process, using the library as any program does.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nccl.h>

namespace detccl::test {

/// Throws, naming the last error, unless `result` is ncclSuccess.
inline void must(ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw std::runtime_error(std::string(ncclGetErrorString(result)) + ": " + ncclGetLastError(nullptr));
}

/// Runs `body(rank)` on a thread per rank; an exception fails the test.
inline void on_threads(int ranks, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

/// As on_threads, each rank with its communicator, which is destroyed afterwards.
inline void on_ranks(int ranks, const std::function<void(int, ncclComm_t)>& body) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  on_threads(ranks, [&](int rank) {
    ncclComm_t comm = nullptr;
    must(ncclCommInitRank(&comm, ranks, id, rank));
    body(rank, comm);
    must(ncclCommDestroy(comm));
  });
}

}  // namespace detccl::test
