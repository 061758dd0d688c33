// SPDX-License-Identifier: Apache-2.0
#include "recorder/sites.h"

#include <gtest/gtest.h>

namespace detccl::recorder {
namespace {

Site site(std::uint64_t communicator, std::uint64_t count, bool captured = false) {
  Site made;
  made.communicator = communicator;
  made.record.count = count;
  made.captured = captured;
  return made;
}

TEST(Sites, OneRecordEach) {
  SiteTable table(10);
  const auto a = table.add(site(0, 5));
  ASSERT_TRUE(a);
  EXPECT_EQ(table.outstanding(), 0u) << "it may still fail";
  table.commit(a->site);
  EXPECT_EQ(table.outstanding(), 1u);
  const auto found = table.arrived(a->site);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->record.count, 5u);
  EXPECT_EQ(table.outstanding(), 0u);
  EXPECT_FALSE(table.arrived(a->site));
  const auto b = table.add(site(0, 6));
  ASSERT_TRUE(b);
  EXPECT_NE(b->site, a->site);
  EXPECT_EQ(b->accumulator, a->accumulator) << "given again";
}

TEST(Sites, CapturedOnesStay) {
  SiteTable table(10);
  const auto a = table.add(site(0, 5, true));
  table.commit(a->site);
  EXPECT_EQ(table.outstanding(), 0u) << "nobody knows when a graph runs";
  for (int i = 0; i < 3; ++i) {
    const auto found = table.arrived(a->site);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->record.count, 5u);
  }
  EXPECT_NE(table.add(site(0, 6))->accumulator, a->accumulator);
}

TEST(Sites, DroppedRecordsAreForgottenWithTheirCommunicatorsNext) {
  SiteTable table(10);
  const auto a = table.add(site(0, 1)), other = table.add(site(1, 2)), b = table.add(site(0, 3));
  for (const auto& place : {a, other, b})
    table.commit(place->site);
  ASSERT_TRUE(table.arrived(b->site));
  EXPECT_FALSE(table.arrived(a->site)) << "it was before, on the same communicator";
  EXPECT_EQ(table.outstanding(), 1u);
  EXPECT_TRUE(table.arrived(other->site));
}

TEST(Sites, AccumulatorsOfFailedOperationsAreNotGivenAgain) {
  SiteTable table(2);
  const auto failed = table.add(site(0, 1)), next = table.add(site(0, 2));
  EXPECT_FALSE(table.add(site(0, 3))) << "all in use";
  table.commit(next->site);
  ASSERT_TRUE(table.arrived(next->site));
  EXPECT_EQ(table.add(site(0, 4))->accumulator, next->accumulator);
  EXPECT_FALSE(table.add(site(0, 5)));
  EXPECT_FALSE(table.arrived(failed->site));
}

}  // namespace
}  // namespace detccl::recorder
