// SPDX-License-Identifier: Apache-2.0
// On host memory: how a reduction is sampled (sample_choice.h). Its input and result are as without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nccl_api/queued_reduction.h"
#include "nccl_api/sample_choice.h"

namespace detccl::nccl_api {

/// One communicator's. One thread at a time.
class Sampling {
 public:
  Sampling(const SampleChoice& which, std::uint32_t ranks) : choice(which), ranks_(ranks) {}

  SampleChoice choice;

  /// What a rank can do; the ranks agree on the least of them.
  enum Willing : std::int32_t { not_at_all = 0, native_first = 1, in_any_order = 2 };

  /// What this rank can, with memory for it; why it cannot is in obstacle().
  Willing look_at(const QueuedReduction& reduction);
  const char* obstacle() const { return obstacle_; }

  /// The least of all ranks' `willing` comes into `agreed`, by this reduction.
  engine::Reduction agreement();
  std::int32_t willing = 0, agreed = 0;

  /// Which of the two is the first in the pair that comes now: in turn, for the second one finds its input in
  /// the caches. In place the native one has to be. The same on all ranks.
  bool take_turn() { return agreed == native_first || pairs_++ % 2 == 0; }

  /// Where the native result goes.
  void* memory() { return memory_.data(); }

 private:
  std::uint32_t ranks_;
  std::uint64_t pairs_ = 0;
  const char* obstacle_ = nullptr;
  std::vector<std::byte> memory_;
};

}  // namespace detccl::nccl_api
