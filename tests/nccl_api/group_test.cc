// SPDX-License-Identifier: Apache-2.0
// Groups: nested, over several communicators, mixed with native operations, and those that fail.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "nccl_api/ranks.h"

namespace detccl::test {
namespace {

using Floats = std::vector<float>;

/// Rank r contributes 2^-12r: the sum is exact, and tells who is in it.
float own_value(int rank) {
  return std::ldexp(1.0f, -rank);
}
float sum_of(int ranks) {
  return 2.0f - std::ldexp(1.0f, 1 - ranks);
}

void all_reduce(const Floats& in, Floats& out, ncclComm_t comm) {
  require(ncclAllReduce(in.data(), out.data(), in.size(), ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
          "ncclAllReduce");
}

void expect_all(const Floats& values, float wanted, const std::string& what) {
  for (const float value : values)
    require(value == wanted, what + ": " + std::to_string(value) + " instead of " + std::to_string(wanted));
}

TEST(Group, NestedAndMixedWithNativeOperations) {
  const RunResult result = run_ranks(4, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const Floats in(100, own_value(rank.rank()));
    Floats sum(100), product(100), gathered(400), token(1), shard(25);
    const int next = (rank.rank() + 1) % 4, previous = (rank.rank() + 3) % 4;
    const float mark = static_cast<float>(rank.rank());
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclSend(&mark, 1, ncclFloat32, next, comm, nullptr), ncclSuccess, "ncclSend");
    all_reduce(in, sum, comm);
    require(ncclGroupStart(), ncclSuccess, "inner ncclGroupStart");
    require(ncclAllGather(in.data(), gathered.data(), 100, ncclFloat32, comm, nullptr), ncclSuccess,
            "ncclAllGather");
    require(ncclReduceScatter(in.data(), shard.data(), 25, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess,
            "ncclReduceScatter");
    require(ncclGroupEnd(), ncclSuccess, "inner ncclGroupEnd");
    expect_all(sum, 0, "nothing runs before the outermost ncclGroupEnd");
    require(ncclRecv(token.data(), 1, ncclFloat32, previous, comm, nullptr), ncclSuccess, "ncclRecv");
    require(ncclReduce(in.data(), product.data(), 100, ncclFloat32, ncclProd, 2, comm, nullptr), ncclSuccess,
            "ncclReduce");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    expect_all(sum, sum_of(4), "sum");
    expect_all(shard, sum_of(4), "shard");
    expect_all(product, rank.rank() == 2 ? std::ldexp(1.0f, -6) : 0.0f, "product at the root");
    expect_all(token, static_cast<float>(previous), "received");
    for (int r = 0; r < 4; ++r)
      require(gathered[static_cast<std::size_t>(r) * 100] == own_value(r), "gathered");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// Every pair of ranks has a communicator, and each rank's group holds its three in another order.
TEST(Group, SeveralCommunicatorsInAnyOrder) {
  const RunResult result = run_ranks(4, {}, [](Rank& rank) {
    const ncclComm_t world = rank.communicator();
    std::vector<ncclComm_t> pairs(4, nullptr);
    for (int x = 1; x < 4; ++x) {  // partner: rank ^ x
      const int color = std::min(rank.rank(), rank.rank() ^ x);
      require(ncclCommSplit(world, color, rank.rank(), &pairs[static_cast<std::size_t>(x)], nullptr),
              ncclSuccess, "ncclCommSplit");
    }
    const Floats in(1000, own_value(rank.rank()));
    std::vector<Floats> out(4, Floats(1000)), second(4, Floats(1000));
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    for (int i = 0; i < 3; ++i) {
      const auto x = static_cast<std::size_t>(1 + (i + rank.rank()) % 3);
      all_reduce(in, out[x], pairs[x]);
      all_reduce(in, second[x], pairs[x]);
    }
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    for (int x = 1; x < 4; ++x) {
      const float wanted = own_value(rank.rank()) + own_value(rank.rank() ^ x);
      expect_all(out[static_cast<std::size_t>(x)], wanted, "first sum of a pair");
      expect_all(second[static_cast<std::size_t>(x)], wanted, "second sum of a pair");
      require(ncclCommDestroy(pairs[static_cast<std::size_t>(x)]), ncclSuccess, "ncclCommDestroy");
    }
    require(ncclCommDestroy(world), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Group, OneThreadWithAllRanks) {
  const RunResult result = run_ranks(1, {}, [](Rank&) {
    constexpr std::size_t kRanks = 4;
    std::vector<ncclComm_t> comms(kRanks);
    require(ncclCommInitAll(comms.data(), kRanks, nullptr), ncclSuccess, "ncclCommInitAll");
    std::vector<Floats> data(kRanks);
    for (int round = 0; round < 3; ++round) {
      require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
      for (std::size_t r = 0; r < kRanks; ++r) {
        data[r].assign(5000, own_value(static_cast<int>(r)));
        all_reduce(data[r], data[r], comms[r]);
      }
      require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
      for (const Floats& d : data)
        expect_all(d, sum_of(kRanks), "sum");
    }
    for (const ncclComm_t comm : comms)
      require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// Two processes, each with two ranks of a communicator that is made inside a group.
TEST(Group, CommunicatorsMadeInsideAGroup) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclUniqueId id = rank.unique_id();
    ncclComm_t comms[2] = {};
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    for (int i = 0; i < 2; ++i)
      require(ncclCommInitRank(&comms[i], 4, id, 2 * rank.rank() + i), ncclSuccess, "ncclCommInitRank");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    Floats data[2];
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    for (int i = 0; i < 2; ++i) {
      data[i].assign(10, own_value(2 * rank.rank() + i));
      all_reduce(data[i], data[i], comms[i]);
    }
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    for (const Floats& d : data)
      expect_all(d, sum_of(4), "sum");
    // In one group: the last reduction, and the end.
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    for (int i = 0; i < 2; ++i) {
      data[i].assign(10, own_value(2 * rank.rank() + i));
      all_reduce(data[i], data[i], comms[i]);
      require(ncclCommDestroy(comms[i]), ncclSuccess, "ncclCommDestroy");
    }
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    for (const Floats& d : data)
      expect_all(d, sum_of(4), "sum before the end");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Group, AnErrorLaunchesNothing) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const Floats in(10, own_value(rank.rank()));
    Floats out(10), gathered(20);
    const auto start = [] { require(ncclGroupStart(), ncclSuccess, "ncclGroupStart"); };
    const auto nothing_ran = [&](const std::string& what) {
      expect_all(out, 0, what);
      expect_all(gathered, 0, what);
    };
    // A mistake in a reduction.
    start();
    all_reduce(in, out, comm);
    require(ncclAllGather(in.data(), gathered.data(), 10, ncclFloat32, comm, nullptr), ncclSuccess,
            "ncclAllGather");
    require(ncclAllReduce(in.data(), out.data(), 10, ncclNumTypes, ncclSum, comm, nullptr),
            ncclInvalidArgument, "a bad type");
    require(ncclGroupEnd(), ncclInvalidArgument, "ncclGroupEnd after a bad reduction");
    nothing_ran("after a bad reduction");
    // In a native operation.
    start();
    all_reduce(in, out, comm);
    require(ncclBroadcast(in.data(), out.data(), 10, ncclFloat32, 7, comm, nullptr), ncclInvalidArgument,
            "a bad root");
    require(ncclGroupEnd(), ncclInvalidArgument, "ncclGroupEnd after a bad broadcast");
    nothing_ran("after a bad broadcast");
    // One that the real library does not know of.
    start();
    require(ncclAllGather(in.data(), gathered.data(), 10, ncclFloat32, comm, nullptr), ncclSuccess,
            "ncclAllGather");
    require(ncclAllReduce(nullptr, out.data(), 10, ncclFloat32, ncclSum, comm, nullptr), ncclInvalidArgument,
            "a NULL buffer");
    const std::string text = ncclGetLastError(comm);
    require(text.find("NULL") != std::string::npos, "the last error tells: " + text);
    require(ncclGroupEnd(), ncclInvalidArgument, "ncclGroupEnd after a NULL buffer");
    nothing_ran("after a NULL buffer");
    // In an inner group, which ends as if nothing had happened.
    start();
    all_reduce(in, out, comm);
    start();
    require(ncclReduce(in.data(), out.data(), 10, ncclFloat32, ncclSum, -1, comm, nullptr),
            ncclInvalidArgument, "a bad root");
    require(ncclGroupEnd(), ncclSuccess, "inner ncclGroupEnd");
    require(ncclGroupEnd(), ncclInvalidArgument, "outer ncclGroupEnd");
    nothing_ran("after an error in an inner group");
    // The communicator and the thread are as good as before.
    start();
    all_reduce(in, out, comm);
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    expect_all(out, sum_of(2), "sum");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Group, EndWithoutStart) {
  const RunResult result = run_ranks(1, {}, [](Rank&) {
    require(ncclGroupEnd(), ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd of an empty group");
    require(ncclGroupEnd(), ncclInvalidUsage, "ncclGroupEnd once too often");
    std::thread([] { require(ncclGroupStart(), ncclSuccess, "ncclGroupStart of another thread"); }).join();
    require(ncclGroupEnd(), ncclInvalidUsage, "ncclGroupEnd for another thread's group");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Group, SimulateEndLaunchesNothing) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const Floats in(10, own_value(rank.rank()));
    Floats out(10);
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    all_reduce(in, out, comm);
    require(ncclGroupSimulateEnd(&info), ncclSuccess, "ncclGroupSimulateEnd");
    expect_all(out, 0, "simulated");
    require(ncclGroupEnd(), ncclInvalidUsage, "the group is over");
    all_reduce(in, out, comm);
    expect_all(out, sum_of(2), "sum");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// A PreMulSum may be destroyed as soon as the call that uses it has returned, and a factor in device memory
/// is read when the group runs.
TEST(Group, FactorsOfPreMulSum) {
  const RunResult result = run_ranks(2, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const Floats in(10, own_value(rank.rank()));
    Floats immediate(10), deferred(10);
    float factor = 3.0f, device_factor = 5.0f;
    ncclRedOp_t ops[2];
    require(ncclRedOpCreatePreMulSum(&ops[0], &factor, ncclFloat32, ncclScalarHostImmediate, comm),
            ncclSuccess, "an immediate factor");
    require(ncclRedOpCreatePreMulSum(&ops[1], &device_factor, ncclFloat32, ncclScalarDevice, comm),
            ncclSuccess, "a device factor");
    factor = 100.0f;
    require(ncclGroupStart(), ncclSuccess, "ncclGroupStart");
    require(ncclAllReduce(in.data(), immediate.data(), 10, ncclFloat32, ops[0], comm, nullptr), ncclSuccess,
            "first");
    require(ncclAllReduce(in.data(), deferred.data(), 10, ncclFloat32, ops[1], comm, nullptr), ncclSuccess,
            "second");
    for (const ncclRedOp_t op : ops)
      require(ncclRedOpDestroy(op, comm), ncclSuccess, "ncclRedOpDestroy");
    device_factor = 7.0f;
    require(ncclGroupEnd(), ncclSuccess, "ncclGroupEnd");
    expect_all(immediate, 3.0f * sum_of(2), "immediate");
    expect_all(deferred, 7.0f * sum_of(2), "deferred");
    require(ncclAllReduce(in.data(), deferred.data(), 10, ncclFloat32, ops[1], comm, nullptr),
            ncclInvalidArgument, "a destroyed operation");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// Where blocks round, products cannot be summed as the contract says; the user may have it natively.
TEST(Group, PreMulSumWhereBlocksRoundIsNativeIfTheUserSaysSo) {
  RunOptions options;
  options.environment = {{"DETCCL_CONTRACT", "tree:wide/2"}, {"DETCCL_FALLBACK", "native"}};
  const RunResult result = run_ranks(2, options, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const std::uint16_t one = 0x3f80, four = 0x4080;
    std::uint16_t two = 0x4000;
    const std::vector<std::uint16_t> in(5, one);
    std::vector<std::uint16_t> out(5);
    ncclRedOp_t op{};
    require(ncclRedOpCreatePreMulSum(&op, &two, ncclBfloat16, ncclScalarHostImmediate, comm), ncclSuccess,
            "ncclRedOpCreatePreMulSum");
    require(ncclAllReduce(in.data(), out.data(), out.size(), ncclBfloat16, op, comm, nullptr), ncclSuccess,
            "ncclAllReduce");
    require(out == std::vector<std::uint16_t>(5, four), "1 * 2 + 1 * 2");
    require(ncclRedOpDestroy(op, comm), ncclSuccess, "ncclRedOpDestroy");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

/// As with NCCL, every rank multiplies its own values, by its own factor.
TEST(Group, EveryRankHasItsOwnFactor) {
  const RunResult result = run_ranks(3, {}, [](Rank& rank) {
    const ncclComm_t comm = rank.communicator();
    const Floats in(3 * 7, own_value(rank.rank()));
    Floats all(3 * 7), shard(7), at_root(3 * 7);
    float factor = static_cast<float>(rank.rank() + 2), wanted = 0;
    for (int r = 0; r < 3; ++r)
      wanted += static_cast<float>(r + 2) * own_value(r);
    ncclRedOp_t op{};
    require(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, comm), ncclSuccess,
            "ncclRedOpCreatePreMulSum");
    require(ncclAllReduce(in.data(), all.data(), all.size(), ncclFloat32, op, comm, nullptr), ncclSuccess,
            "ncclAllReduce");
    require(ncclReduceScatter(in.data(), shard.data(), shard.size(), ncclFloat32, op, comm, nullptr),
            ncclSuccess, "ncclReduceScatter");
    require(ncclReduce(in.data(), at_root.data(), at_root.size(), ncclFloat32, op, 1, comm, nullptr),
            ncclSuccess, "ncclReduce");
    expect_all(all, wanted, "all_reduce");
    expect_all(shard, wanted, "reduce_scatter");
    expect_all(at_root, rank.rank() == 1 ? wanted : 0.0f, "reduce");
    require(ncclRedOpDestroy(op, comm), ncclSuccess, "ncclRedOpDestroy");
    require(ncclCommDestroy(comm), ncclSuccess, "ncclCommDestroy");
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

}  // namespace
}  // namespace detccl::test
