// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a communicator that are threads of one process wait for each other on the host.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace detccl::nccl_api {

class Meeting {
 public:
  /// The one that all of `members` ranks get which ask for the same `number` while one of them has it. Any
  /// thread.
  static std::shared_ptr<Meeting> get(std::uint64_t number, std::size_t members);

  explicit Meeting(std::size_t members) : members_(members) {}
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// Waits until all members have come as often as this one, or one of them has not for `patience`: from then
  /// on nobody waits any more. Whether all have come.
  bool wait(std::chrono::milliseconds patience = std::chrono::seconds(60));

 private:
  const std::size_t members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t here_ = 0;
  std::uint64_t rounds_ = 0;
  bool given_up_ = false;
};

}  // namespace detccl::nccl_api
