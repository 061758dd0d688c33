// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/meeting.h"

#include <map>

namespace detccl::nccl_api {

std::shared_ptr<Meeting> Meeting::get(std::uint64_t number, std::size_t members) {
  static auto& mutex = *new std::mutex;  // threads may call until the very end
  static auto& all = *new std::map<std::uint64_t, std::weak_ptr<Meeting>>;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Meeting>& known = all[number];
  std::shared_ptr<Meeting> meeting = known.lock();
  if (meeting == nullptr) known = meeting = std::make_shared<Meeting>(members);
  return meeting;
}

bool Meeting::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = rounds_;
  if (!given_up_ && ++here_ == members_) {
    here_ = 0;
    ++rounds_;
    changed_.notify_all();
    return true;
  }
  const bool over = changed_.wait_for(lock, patience, [&] { return given_up_ || rounds_ != round; });
  if (!over) {
    given_up_ = true;
    changed_.notify_all();
  }
  return rounds_ != round;
}

}  // namespace detccl::nccl_api
