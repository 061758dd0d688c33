// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace detccl::perf {

std::vector<Job::Slot> Job::gather_slots(const void* data, std::size_t bytes) {
  Slot mine;
  mine.bytes = static_cast<std::uint32_t>(bytes);
  if (bytes > 0) std::memcpy(mine.data.data(), data, bytes);
  std::vector<Slot> all(static_cast<std::size_t>(ranks_));
  exchange(mine, all);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].failed != 0)
      throw PeerFailure("rank " + std::to_string(r) + ": " + std::string(all[r].data.data(), all[r].bytes));
  }
  return all;
}

void Job::announce(const std::string& reason) {
  Slot mine;
  mine.failed = 1;
  mine.bytes = static_cast<std::uint32_t>(std::min(reason.size(), kSlotBytes));
  std::memcpy(mine.data.data(), reason.data(), mine.bytes);
  std::vector<Slot> all(static_cast<std::size_t>(ranks_));
  exchange(mine, all);
}

void Job::barrier() {
  gather_slots(nullptr, 0);
}

void Job::max_over_ranks(std::span<double> values) {
  constexpr std::size_t kAtOnce = kSlotBytes / sizeof(double);
  for (std::size_t at = 0; at < values.size(); at += kAtOnce) {
    const std::span<double> part = values.subspan(at, std::min(kAtOnce, values.size() - at));
    for (const Slot& slot : gather_slots(part.data(), part.size_bytes())) {
      for (std::size_t i = 0; i < part.size(); ++i) {
        double theirs = 0.0;
        std::memcpy(&theirs, slot.data.data() + i * sizeof theirs, sizeof theirs);
        part[i] = std::max(part[i], theirs);
      }
    }
  }
}

std::vector<std::uint64_t> Job::gather(std::uint64_t value) {
  std::vector<std::uint64_t> all;
  for (const Slot& slot : gather_slots(&value, sizeof value)) {
    std::memcpy(&value, slot.data.data(), sizeof value);
    all.push_back(value);
  }
  return all;
}

std::uint64_t Job::sum_over_ranks(std::uint64_t value) {
  std::uint64_t sum = 0;
  for (const std::uint64_t v : gather(value))
    sum += v;
  return sum;
}

void Job::broadcast(void* data, std::size_t bytes) {
  const std::vector<Slot> all = gather_slots(data, bytes);
  std::memcpy(data, all.front().data.data(), bytes);
}

Job::Place Job::place() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::vector<Slot> all = gather_slots(host.data(), host.size());
  Place place{0, 0};
  for (int r = 0; r < ranks_; ++r) {
    if (std::memcmp(all[static_cast<std::size_t>(r)].data.data(), host.data(), host.size()) != 0) continue;
    ++place.local_ranks;
    if (r < rank_) ++place.local_rank;
  }
  return place;
}

}  // namespace detccl::perf
