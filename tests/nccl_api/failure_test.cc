// SPDX-License-Identifier: Apache-2.0
// What goes wrong between ranks: dead ones, slow ones, and those that want something else.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "nccl_api/ranks.h"

namespace detccl::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ncclResult_t all_reduce(std::vector<float>& data, ncclComm_t comm) {
  return ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, comm, nullptr);
}

TEST(Failure, AKilledRankEndsTheOthers) {
  const RunResult result = run_ranks(4, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    std::vector<float> data(1u << 20, 1.0f);
    for (int step = 0; step < 1000; ++step) {
      if (rank.rank() == 2 && step == 3) raise(SIGKILL);
      const ncclResult_t code = all_reduce(data, comm);
      if (code == ncclSuccess) continue;
      require(code, ncclRemoteError, "the reduction");
      ncclResult_t state = ncclSuccess;
      require(ncclCommGetAsyncError(comm, &state), ncclSuccess, "ncclCommGetAsyncError");
      require(state, ncclRemoteError, "ncclCommGetAsyncError tells");
      require(all_reduce(data, comm), ncclRemoteError, "a later reduction");
      require(ncclBroadcast(data.data(), data.data(), 1, ncclFloat32, 0, comm, nullptr), ncclRemoteError,
              "a later broadcast");
      require(ncclCommAbort(comm), ncclSuccess, "ncclCommAbort");
      return;
    }
    require(false, "all steps ran");
  });
  EXPECT_FALSE(result.timed_out) << result.report();
  EXPECT_EQ(result.killed_by[2], SIGKILL);
  for (const std::string& failure : result.failures)
    EXPECT_EQ(failure, "");
  EXPECT_LT(result.seconds, 120);  // far from DETCCL_TIMEOUT
}

/// In a group: the real group is closed all the same, and the thread can go on.
TEST(Failure, AKilledRankEndsAGroup) {
  const RunResult result = run_ranks(3, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    std::vector<float> data(1000, 1.0f), gathered(3000);
    require(all_reduce(data, comm), ncclSuccess, "ncclAllReduce");
    rank.barrier();  // the others' reductions have ended too
    if (rank.rank() == 0) raise(SIGKILL);
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    ncclResult_t code = all_reduce(data, comm);
    // The death may have been noticed already.
    if (code == ncclSuccess)
      static_cast<void>(ncclAllGather(data.data(), gathered.data(), 1000, ncclFloat32, comm, nullptr));
    code = ncclGroupEnd();
    require(code, ncclRemoteError, "ncclGroupEnd");
    require(ncclGroupEnd(), ncclInvalidUsage, "the group is over");
    require(ncclCommAbort(comm), ncclSuccess, "ncclCommAbort");
    ncclComm_t alone = nullptr;
    ncclUniqueId id;
    require(ncclGetUniqueId(&id), ncclSuccess, "ncclGetUniqueId");
    require(ncclCommInitRank(&alone, 1, id, 0), ncclSuccess, "ncclCommInitRank");
    require(all_reduce(data, alone), ncclSuccess, "a reduction of this rank alone");
    require(ncclCommDestroy(alone), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_FALSE(result.timed_out) << result.report();
  for (const std::string& failure : result.failures)
    EXPECT_EQ(failure, "");
  EXPECT_LT(result.seconds, 120);  // far from DETCCL_TIMEOUT
}

TEST(Failure, NoProgressEndsInTime) {
  RunOptions options;
  options.environment = {{"DETCCL_TIMEOUT", "1"}};
  const RunResult result = run_ranks(2, options, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    std::vector<float> data(1000, 1.0f);
    if (rank.rank() == 0) {
      const auto start = std::chrono::steady_clock::now();
      require(all_reduce(data, comm), ncclRemoteError, "a reduction that the other rank does not join");
      const auto took = std::chrono::steady_clock::now() - start;
      require(took > std::chrono::milliseconds(900) && took < std::chrono::seconds(5),
              "after about a second");
      require(std::string(ncclGetLastError(comm)).find("DETCCL_TIMEOUT") != std::string::npos,
              "the text tells why");
      require(all_reduce(data, comm), ncclRemoteError, "the communicator stays in error");
    }
    rank.barrier();
    require(ncclCommAbort(comm), ncclSuccess, "ncclCommAbort");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Failure, RanksThatDisagree) {
  const std::vector<std::pair<Variables, std::string>> cases = {
      {{{"DETCCL_CONTRACT", "linear"}},
       "ranks disagree on DETCCL_CONTRACT: linear on rank 1; tree on ranks 0, 2"},
      {{{"DETCCL_CHUNK", "1M"}}, "ranks disagree on DETCCL_CHUNK: 1048576 on rank 1; auto on ranks 0, 2"},
      {{{"DETCCL_SCHEDULE", "tree"}},
       "ranks disagree on DETCCL_SCHEDULE: auto on ranks 0, 2; tree on rank 1"},
      {{{"DETCCL_PROVE", "1"}}, "ranks disagree on DETCCL_PROVE: 0 on ranks 0, 2; 1 on rank 1"}};
  for (const auto& [other, line] : cases) {
    RunOptions options;
    options.rank_environment = [&other = other](int rank) { return rank == 1 ? other : Variables{}; };
    const RunResult result = run_ranks(3, options, [](Rank& rank) {
      ncclComm_t comm = nullptr;
      require(ncclCommInitRank(&comm, 3, rank.unique_id(), rank.rank()), ncclInvalidUsage,
              "ncclCommInitRank");
      require(comm == nullptr, "there is no communicator");
      require(std::string(ncclGetLastError(nullptr)).find("disagree") != std::string::npos,
              "the last error tells");
    });
    EXPECT_TRUE(result.ok()) << result.report();
    EXPECT_TRUE(contains(result.error_output, line)) << result.error_output;
  }
}

TEST(Failure, AMistakeInTheEnvironmentStopsTheJob) {
  const std::vector<std::pair<Variables, std::string>> cases = {
      {{{"DETCCL_CONTRACT", "trees"}}, "DETCCL_CONTRACT='trees' is not allowed"},
      {{{"DETCCL_SHEDULE", "tree"}},
       "DETCCL_SHEDULE is no variable of DetCCL; the nearest is DETCCL_SCHEDULE"},
      {{{"DETCCL_SCHEDULE", "ring"}}, "DETCCL_SCHEDULE=ring cannot carry out DETCCL_CONTRACT=tree"}};
  for (const auto& [environment, line] : cases) {
    RunOptions options;
    options.environment = environment;
    const RunResult result = run_ranks(1, options, [](Rank& rank) {
      const ncclUniqueId id = rank.unique_id();
      ncclComm_t comm = nullptr;
      require(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidUsage, "ncclCommInitRank");
      require(ncclCommInitAll(&comm, 1, nullptr), ncclInvalidUsage, "ncclCommInitAll");
      require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
      require(ncclCommInitRank(&comm, 1, id, 0), ncclInvalidUsage, "ncclCommInitRank in a group");
      require(ncclGroupEnd(), ncclInvalidUsage, "ncclGroupEnd");
    });
    EXPECT_TRUE(result.ok()) << result.report();
    EXPECT_TRUE(contains(result.error_output, line)) << result.error_output;
  }
}

TEST(Failure, ALibraryThatIsNoNccl) {
  for (const char* library : {"/nonexistent/libnccl.so.2", "libm.so.6", DETCCL_TEST_LIBRARY}) {
    RunOptions options;
    options.environment = {{"DETCCL_NCCL_LIBRARY", library}};
    const RunResult result = run_ranks(1, options, [](Rank&) {
      int version = 0;
      require(ncclGetVersion(&version), ncclSystemError, "ncclGetVersion");
      ncclComm_t comm = nullptr;
      require(ncclCommInitAll(&comm, 1, nullptr), ncclSystemError, "ncclCommInitAll");
      require(ncclGroupEnd(), ncclSystemError, "ncclGroupEnd");
    });
    EXPECT_TRUE(result.ok()) << library << ": " << result.report();
    EXPECT_TRUE(contains(result.error_output, "no NCCL library")) << result.error_output;
  }
}

TEST(Failure, ProvedPlansRunAndGiveTheSameBits) {
  std::vector<std::vector<std::byte>> results;
  for (const char* prove : {"0", "1"}) {
    RunOptions options;
    options.environment = {{"DETCCL_PROVE", prove}, {"DETCCL_CHUNK", "4K"}};
    const RunResult result = run_ranks(5, options, [](Rank& rank) {
      const ncclComm_t comm = rank.communicator();
      std::vector<float> data(5000);
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = 1.0f / static_cast<float>(1 + i + 77u * static_cast<unsigned>(rank.rank()));
      require(all_reduce(data, comm), ncclSuccess, "ncclAllReduce");
      if (rank.rank() == 3) std::copy(data.begin(), data.end(), reinterpret_cast<float*>(rank.memory()));
      require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
    });
    EXPECT_TRUE(result.ok()) << result.report();
    results.push_back(result.memory);
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace detccl::test
