// SPDX-License-Identifier: Apache-2.0
#include "recorder/context.h"

#include <thread>

#include <gtest/gtest.h>

namespace detccl::recorder {
namespace {

TEST(Context, NamesOfSteps) {
  EXPECT_EQ(step_in("step 12"), 12u);
  EXPECT_EQ(step_in("Step_7"), 7u);
  EXPECT_EQ(step_in("iteration=0"), 0u);
  EXPECT_EQ(step_in("ProfilerStep#104"), 104u);
  EXPECT_EQ(step_in("train_step: 3"), 3u);
  EXPECT_EQ(step_in("iter12"), 12u);
  for (const char* name :
       {"", "12", "step", "layer 12", "steps 3", "step 4294967295", "step 99999999999", "step 3 b"})
    EXPECT_FALSE(step_in(name)) << name;
}

TEST(Context, RangesNestAndStepsAreNoPartOfAPhase) {
  push_range("step 5");
  EXPECT_EQ(current_step(), 5u);
  EXPECT_EQ(current_phase(), "");
  push_range("forward");
  push_range("attention");
  EXPECT_EQ(current_phase(), "forward/attention");
  pop_range();
  EXPECT_EQ(current_phase(), "forward");
  pop_range();
  pop_range();
  EXPECT_EQ(current_phase(), "");
  pop_range();  // one too many does no harm
  EXPECT_EQ(current_step(), 5u);
}

TEST(Context, DeepRangesAreCountedAndNotNamed) {
  for (int i = 0; i < 100; ++i)
    push_range("x");
  const std::string deepest = current_phase();
  EXPECT_LT(deepest.size(), 100u);
  for (int i = 0; i < 68; ++i)
    pop_range();
  EXPECT_EQ(current_phase(), deepest);
  for (int i = 0; i < 32; ++i)
    pop_range();
  EXPECT_EQ(current_phase(), "");
}

TEST(Context, AMarkedPhaseIsTheThreadsAndGivesWayToRanges) {
  set_phase("optimizer");
  EXPECT_EQ(current_phase(), "optimizer");
  push_range("all_gather");
  EXPECT_EQ(current_phase(), "all_gather");
  pop_range();
  std::thread([] { EXPECT_EQ(current_phase(), ""); }).join();
  set_phase("");
}

}  // namespace
}  // namespace detccl::recorder
