// SPDX-License-Identifier: Apache-2.0
// Argument checks: NCCL's codes, in NCCL's order.
#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

constexpr auto kBadType = static_cast<ncclDataType_t>(ncclNumTypes);
constexpr auto kBadOp = static_cast<ncclRedOp_t>(ncclMaxRedOp);

/// A communicator of one rank, so that calls that pass their checks return at once.
class Arguments : public testing::Test {
 protected:
  void SetUp() override { must(ncclCommInitAll(&comm_, 1, nullptr)); }
  void TearDown() override {
    if (comm_ != nullptr) must(ncclCommDestroy(comm_));
  }
  ncclResult_t all_reduce(std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm) {
    return ncclAllReduce(in_, out_, count, type, op, comm, nullptr);
  }
  ncclComm_t comm_ = nullptr;
  float in_[4] = {1, 2, 3, 4};
  float out_[4] = {};
};

TEST_F(Arguments, CommunicatorComesFirst) {
  int made_up = 0;
  EXPECT_EQ(all_reduce(4, kBadType, kBadOp, nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(nullptr), "comm is NULL");
  EXPECT_EQ(all_reduce(4, ncclFloat32, ncclSum, reinterpret_cast<ncclComm_t>(&made_up)), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(0, ncclFloat32, ncclSum, nullptr), ncclInvalidArgument);
}

TEST_F(Arguments, RootTypeOperation) {
  EXPECT_EQ(ncclReduce(in_, out_, 4, ncclFloat32, ncclSum, 1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclReduce(in_, out_, 4, ncclFloat32, ncclSum, -1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(in_, out_, 4, ncclFloat32, 1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclBcast(in_, 4, ncclFloat32, -1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclGather(in_, out_, 4, ncclFloat32, 7, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclScatter(in_, out_, 4, ncclFloat32, 7, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclSend(in_, 4, ncclFloat32, 1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclRecv(out_, 4, ncclFloat32, -1, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(4, kBadType, ncclSum, comm_), ncclInvalidArgument);
  EXPECT_EQ(ncclAllGather(in_, out_, 4, kBadType, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(4, ncclFloat32, kBadOp, comm_), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(4, ncclFloat32, static_cast<ncclRedOp_t>(ncclNumOps), comm_), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, out_, 4, ncclFloat32, ncclSum, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclAllGather(in_, nullptr, 4, ncclFloat32, comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(4, ncclFloat32, ncclSum, comm_), ncclSuccess);
}

/// Root before type before operation: seen by the text, as the code is one.
TEST_F(Arguments, InThisOrder) {
  EXPECT_EQ(ncclReduce(in_, out_, 4, kBadType, kBadOp, 9, comm_, nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(comm_), "Reduce: root 9: allowed is 0 to 0");
  EXPECT_EQ(ncclReduce(in_, out_, 4, kBadType, kBadOp, 0, comm_, nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(comm_), "Reduce: datatype 12: allowed is 0 to 11");
}

TEST_F(Arguments, CountZeroIsCheckedToo) {
  EXPECT_EQ(all_reduce(0, ncclFloat32, ncclSum, comm_), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, comm_, nullptr), ncclSuccess);
  EXPECT_EQ(all_reduce(0, kBadType, ncclSum, comm_), ncclInvalidArgument);
  EXPECT_EQ(ncclReduce(in_, out_, 0, ncclFloat32, ncclSum, 1, comm_, nullptr), ncclInvalidArgument);
}

TEST_F(Arguments, CountsThatOverflow) {
  EXPECT_EQ(all_reduce(SIZE_MAX / 2, ncclFloat64, ncclSum, comm_), ncclInvalidArgument);
}

TEST_F(Arguments, UserOperations) {
  float factor = 3;
  ncclRedOp_t op;
  EXPECT_EQ(ncclRedOpCreatePreMulSum(nullptr, &factor, ncclFloat32, ncclScalarHostImmediate, comm_),
            ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, nullptr, ncclFloat32, ncclScalarHostImmediate, comm_),
            ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, kBadType, ncclScalarHostImmediate, comm_),
            ncclInvalidArgument);
  must(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, comm_));
  EXPECT_EQ(all_reduce(4, ncclFloat32, op, comm_), ncclSuccess);
  EXPECT_EQ(out_[3], 12.0f);
  EXPECT_EQ(all_reduce(4, ncclInt32, op, comm_), ncclInvalidArgument) << "made for another type";
  ncclComm_t other;
  must(ncclCommInitAll(&other, 1, nullptr));
  EXPECT_EQ(all_reduce(4, ncclFloat32, op, other), ncclInvalidArgument) << "made for another communicator";
  EXPECT_EQ(ncclRedOpDestroy(op, other), ncclInvalidArgument);
  must(ncclCommDestroy(other));
  EXPECT_EQ(ncclRedOpDestroy(ncclSum, comm_), ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpDestroy(op, nullptr), ncclInvalidArgument);
  must(ncclRedOpDestroy(op, comm_));
  EXPECT_EQ(ncclRedOpDestroy(op, comm_), ncclInvalidArgument);
  EXPECT_EQ(all_reduce(4, ncclFloat32, op, comm_), ncclInvalidArgument);
}

TEST_F(Arguments, Initialisation) {
  ncclUniqueId id;
  ncclComm_t comm;
  must(ncclGetUniqueId(&id));
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(&comm, 0, nullptr), ncclInvalidArgument);
  const int twice[] = {3, 3};
  ncclComm_t two[2];
  EXPECT_EQ(ncclCommInitAll(two, 2, twice), ncclInvalidUsage);
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 1, 0, 0, &id, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 1, 0, 1, nullptr, nullptr), ncclInvalidArgument);

  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetLastError(nullptr), "ncclConfig_t.blocking = 2: allowed is 0 to 1");
  config = NCCL_CONFIG_INITIALIZER;
  config.magic = 0;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 4;
  config.maxCTAs = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  must(ncclCommInitRank(&comm, 1, id, 0));  // the id is still good
  must(ncclCommDestroy(comm));
}

TEST_F(Arguments, Questions) {
  int value = -1;
  EXPECT_EQ(ncclCommCount(comm_, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommUserRank(nullptr, &value), ncclInvalidArgument);
  EXPECT_EQ(ncclCommGetAsyncError(comm_, nullptr), ncclInvalidArgument);
  must(ncclCommCount(comm_, &value));
  EXPECT_EQ(value, 1);
  must(ncclGetVersion(&value));
  EXPECT_EQ(value, 22809);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage (run with NCCL_DEBUG=WARN for details)");
}

TEST_F(Arguments, MemoryAndRegistration) {
  void* memory = nullptr;
  must(ncclMemAlloc(&memory, 100000));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % NCCL_WIN_REQUIRED_ALIGNMENT, 0u);
  void* handle = nullptr;
  must(ncclCommRegister(comm_, memory, 100000, &handle));
  EXPECT_NE(handle, nullptr);
  must(ncclCommDeregister(comm_, handle));
  EXPECT_EQ(ncclCommDeregister(comm_, handle), ncclInvalidArgument);
  ncclWindow_t window = nullptr;
  must(ncclCommWindowRegister(comm_, memory, 100000, &window, NCCL_WIN_COLL_SYMMETRIC));
  must(ncclCommWindowDeregister(comm_, window));
  EXPECT_EQ(ncclCommWindowRegister(comm_, memory, 100000, &window, 8), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowRegister(comm_, static_cast<char*>(memory) + 8, 8, &window, 0),
            ncclInvalidArgument);
  must(ncclMemFree(memory));
  EXPECT_EQ(ncclMemFree(memory), ncclInvalidArgument);
  EXPECT_EQ(ncclMemAlloc(nullptr, 1), ncclInvalidArgument);
  must(ncclMemAlloc(&memory, 0));
  EXPECT_EQ(memory, nullptr);
  must(ncclMemFree(nullptr));
}

}  // namespace
}  // namespace detccl::test
