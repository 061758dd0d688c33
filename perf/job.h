// SPDX-License-Identifier: Apache-2.0
// The processes of a sweep, and what they tell each other beside the collective that is measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace detccl::perf {

/// Bad usage found after the command line was parsed, or something needed that is not there: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Another rank gave up what all are doing; what() is its reason.
class PeerFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// All functions but the accessors are collective. They throw PeerFailure where a rank calls announce()
/// instead of what the others call; after that all ranks are in step again.
class Job {
 public:
  Job(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  void barrier();
  /// Replaces each value by the largest of all ranks.
  void max_over_ranks(std::span<double> values);
  /// Modulo 2^64.
  std::uint64_t sum_over_ranks(std::uint64_t value);
  /// Every rank's value.
  std::vector<std::uint64_t> gather(std::uint64_t value);
  void broadcast(void* data, std::size_t bytes);  ///< from rank 0, at most kSlotBytes
  /// How many lower ranks are on this rank's host, and how many ranks in all.
  struct Place {
    int local_rank = 0, local_ranks = 1;
  };
  Place place();

  /// Gives up, on this rank, what all are doing.
  void announce(const std::string& reason);
  /// The size that is being measured, for whoever watches over the processes.
  void set_step(std::uint32_t step) { step_ = step; }

  static constexpr std::size_t kSlotBytes = 504;
  struct Slot {
    std::uint32_t failed = 0, bytes = 0;
    std::array<char, kSlotBytes> data{};
  };

 protected:
  /// Gathers every rank's slot.
  virtual void exchange(const Slot& mine, std::span<Slot> all) = 0;
  std::uint32_t step() const { return step_; }

 private:
  std::vector<Slot> gather_slots(const void* data, std::size_t bytes);

  int rank_, ranks_;
  std::uint32_t step_ = 0;
};

}  // namespace detccl::perf
