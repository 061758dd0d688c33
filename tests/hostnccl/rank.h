// SPDX-License-Identifier: Apache-2.0
// What the scenarios of hostnccl_rank share.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <nccl.h>

namespace detccl::test {

struct Rank {
  int rank = 0, ranks = 0;
  ncclUniqueId id{};
  ncclComm_t comm = nullptr;
};

[[noreturn]] inline void failed(const std::string& what) {
  throw std::runtime_error(what);
}

inline void must(ncclResult_t result) {
  if (result != ncclSuccess)
    failed(std::string(ncclGetErrorString(result)) + ": " + ncclGetLastError(nullptr));
}

inline void init(Rank& r) {
  must(ncclCommInitRank(&r.comm, r.ranks, r.id, r.rank));
}

inline ncclResult_t reduce_once(Rank& r, std::vector<float>& data) {
  return ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclMax, r.comm, nullptr);
}

// Scenarios in which the rank that the environment variable TEST_VICTIM names dies (rank_deaths.cc).
void killed(Rank& r);
void killed_while_idle(Rank& r);
void killed_with_children(Rank& r);
void vanished(Rank& r);

}  // namespace detccl::test
