// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/meeting.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace detccl::nccl_api {
namespace {

TEST(Meeting, NobodyGoesOnBeforeAllHaveCome) {
  constexpr std::size_t kMembers = 5;
  constexpr int kRounds = 200;
  std::atomic<int> came{0};
  std::atomic<bool> early{false}, alone{false};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kMembers; ++i) {
      threads.emplace_back([&] {
        const auto meeting = Meeting::get(7, kMembers);
        for (int round = 1; round <= kRounds; ++round) {
          ++came;
          if (!meeting->wait()) alone = true;
          if (came < round * static_cast<int>(kMembers)) early = true;
        }
      });
    }
  }
  EXPECT_FALSE(early);
  EXPECT_FALSE(alone);
}

TEST(Meeting, OneAloneDoesNotWait) {
  const auto meeting = Meeting::get(1, 1);
  EXPECT_TRUE(meeting->wait());
  EXPECT_TRUE(meeting->wait());
}

TEST(Meeting, WhoNeverComesIsWaitedForOnce) {
  const auto meeting = Meeting::get(2, 2);
  EXPECT_EQ(Meeting::get(2, 2), meeting);
  EXPECT_FALSE(meeting->wait(std::chrono::milliseconds(1)));
  EXPECT_FALSE(meeting->wait(std::chrono::hours(24)));
}

TEST(Meeting, NumbersTellThemApart) {
  const auto meeting = Meeting::get(3, 2);
  EXPECT_NE(Meeting::get(4, 2), meeting);
}

}  // namespace
}  // namespace detccl::nccl_api
