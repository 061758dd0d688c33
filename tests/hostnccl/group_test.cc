// SPDX-License-Identifier: Apache-2.0
// Groups: nested, over several communicators in one thread, poisoned, simulated.
#include <gtest/gtest.h>

#include "ranks.h"

namespace detccl::test {
namespace {

/// One thread that drives all ranks of a communicator.
class OneThread : public testing::Test {
 protected:
  void SetUp() override { must(ncclCommInitAll(comms_.data(), kRanks, nullptr)); }
  void TearDown() override {
    for (ncclComm_t comm : comms_)
      must(ncclCommDestroy(comm));
  }
  /// Every rank's part of an AllReduce of its number plus one.
  void all_reduce_each() {
    for (std::size_t r = 0; r < comms_.size(); ++r) {
      must(ncclAllReduce(&values_[r], &results_[r], 1, ncclInt32, ncclSum, comms_[r], nullptr));
    }
  }
  static constexpr int kRanks = 3;
  std::vector<ncclComm_t> comms_ = std::vector<ncclComm_t>(kRanks);
  std::vector<int> values_{1, 2, 3}, results_{0, 0, 0};
  const std::vector<int> sums_{6, 6, 6};
};

TEST_F(OneThread, GroupOverAllRanks) {
  must(ncclGroupStart());
  all_reduce_each();
  EXPECT_EQ(results_, std::vector<int>(3, 0)) << "nothing runs before the group ends";
  must(ncclGroupEnd());
  EXPECT_EQ(results_, sums_);
}

TEST_F(OneThread, NestedGroupsRunAtTheOutermostEnd) {
  must(ncclGroupStart());
  must(ncclGroupStart());
  all_reduce_each();
  must(ncclGroupEnd());
  EXPECT_EQ(results_, std::vector<int>(3, 0));
  must(ncclGroupEnd());
  EXPECT_EQ(results_, sums_);
}

/// In a group a later operation finds the results of an earlier one.
TEST_F(OneThread, OperationsOfOneCommunicatorRunInOrder) {
  std::vector<int> twice(3);
  must(ncclGroupStart());
  all_reduce_each();
  for (std::size_t r = 0; r < 3; ++r) {
    must(ncclAllReduce(&results_[r], &twice[r], 1, ncclInt32, ncclSum, comms_[r], nullptr));
  }
  must(ncclGroupEnd());
  EXPECT_EQ(twice, std::vector<int>(3, 18));
}

TEST_F(OneThread, CollectivesThenPointToPoint) {
  std::vector<int> passed(3);
  must(ncclGroupStart());
  for (std::size_t r = 0; r < 3; ++r) {
    must(ncclSend(&results_[r], 1, ncclInt32, static_cast<int>((r + 1) % 3), comms_[r], nullptr));
    must(ncclRecv(&passed[r], 1, ncclInt32, static_cast<int>((r + 2) % 3), comms_[r], nullptr));
  }
  all_reduce_each();
  must(ncclGroupEnd());
  EXPECT_EQ(passed, sums_);
}

TEST_F(OneThread, SeveralCommunicatorsInAnyOrder) {
  std::vector<ncclComm_t> others(3);
  must(ncclCommInitAll(others.data(), 3, nullptr));
  std::vector<int> other_results(3);
  must(ncclGroupStart());
  all_reduce_each();
  for (std::size_t r = 3; r-- > 0;) {
    must(ncclAllReduce(&values_[r], &other_results[r], 1, ncclInt32, ncclProd, others[r], nullptr));
  }
  must(ncclGroupEnd());
  EXPECT_EQ(results_, sums_);
  EXPECT_EQ(other_results, std::vector<int>(3, 6));
  for (ncclComm_t comm : others)
    must(ncclCommDestroy(comm));
}

TEST_F(OneThread, AnErrorPoisonsTheGroupAndNothingRuns) {
  must(ncclGroupStart());
  all_reduce_each();
  EXPECT_EQ(ncclAllReduce(&values_[0], &results_[0], 1, static_cast<ncclDataType_t>(12), ncclSum, comms_[0],
                          nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(results_, std::vector<int>(3, 0));
  must(ncclGroupStart());  // the next one is not affected
  all_reduce_each();
  must(ncclGroupEnd());
  EXPECT_EQ(results_, sums_);
}

TEST_F(OneThread, AnErrorInANestedGroupPoisonsTheOutermost) {
  must(ncclGroupStart());
  must(ncclGroupStart());
  EXPECT_EQ(ncclBroadcast(&values_[0], &results_[0], 1, ncclInt32, 3, comms_[0], nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  all_reduce_each();
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(results_, std::vector<int>(3, 0));
}

TEST_F(OneThread, SimulateEndLaunchesNothing) {
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  must(ncclGroupStart());
  all_reduce_each();
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclSuccess);
  EXPECT_EQ(results_, std::vector<int>(3, 0));
  must(ncclGroupStart());
  all_reduce_each();
  must(ncclGroupEnd());
  EXPECT_EQ(results_, sums_);
}

TEST_F(OneThread, PreMulSumMayBeDestroyedBeforeTheGroupEnds) {
  std::vector<ncclRedOp_t> ops(3);
  must(ncclGroupStart());
  for (std::size_t r = 0; r < 3; ++r) {
    int factor = 10;
    must(ncclRedOpCreatePreMulSum(&ops[r], &factor, ncclInt32, ncclScalarHostImmediate, comms_[r]));
    factor = 0;
    must(ncclAllReduce(&values_[r], &results_[r], 1, ncclInt32, ops[r], comms_[r], nullptr));
    must(ncclRedOpDestroy(ops[r], comms_[r]));
  }
  must(ncclGroupEnd());
  EXPECT_EQ(results_, std::vector<int>(3, 60));
}

TEST_F(OneThread, DeviceScalarIsReadWhenTheOperationRuns) {
  std::vector<int> factors{0, 0, 0};
  std::vector<ncclRedOp_t> ops(3);
  must(ncclGroupStart());
  for (std::size_t r = 0; r < 3; ++r) {
    must(ncclRedOpCreatePreMulSum(&ops[r], &factors[r], ncclInt32, ncclScalarDevice, comms_[r]));
    must(ncclAllReduce(&values_[r], &results_[r], 1, ncclInt32, ops[r], comms_[r], nullptr));
  }
  factors = {2, 2, 2};
  must(ncclGroupEnd());
  EXPECT_EQ(results_, std::vector<int>(3, 12));
  for (std::size_t r = 0; r < 3; ++r)
    must(ncclRedOpDestroy(ops[r], comms_[r]));
}

TEST(Group, EndWithoutStart) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), ncclInvalidUsage);
  must(ncclGroupStart());
  must(ncclGroupEnd());
}

}  // namespace
}  // namespace detccl::test
