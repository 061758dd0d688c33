// SPDX-License-Identifier: Apache-2.0
// Which schedule carries out a call, and in chunks of what size: from what all ranks know, so that all choose
// the same. It never changes the bits.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/reduction.h"
#include "plan/tuner/cost.h"

namespace detccl::engine {

/// A call, for the cost model. `message_bytes`, reduce_scatter: of all shards together.
plan::tuner::Question question(const Settings& settings, plan::Collective collective, std::uint32_t ranks,
                               contract::DataType type, std::uint64_t message_bytes);

/// Payload bytes of a chunk of so many elements, as plan::tuner::predict() has them: no more than the
/// message.
std::uint64_t chunk_bytes(const plan::tuner::Question& question, std::uint64_t elements);

/// What could carry it out: settings.schedule and settings.chunk_bytes where they are given, else what
/// supports the contract, each in a number of chunk sizes as far as scratch allows them. The first one is the
/// rule's, what is chosen without coefficients.
struct Option {
  Choice choice;
  plan::tuner::Terms predicted;
  double gain = 0;  ///< how much less than the first it has to take to be chosen: predictions are no better
};
std::vector<Option> options(const Settings& settings, const plan::tuner::Coefficients& coefficients,
                            const plan::tuner::Question& question);

/// The number of the quickest of those that take so much less than the first; that one's, if there are none.
std::size_t best(const std::vector<Option>& options);
/// The least gain; a schedule's own error, where that is known to be larger.
inline constexpr double kGain = 0.15;

/// With settings.coefficients, what may be chosen beside the rule's `gather` and `direct`.
std::vector<plan::Schedule> tuned_schedules(const Settings& settings, std::uint32_t ranks);

/// Choices of one communicator, made once per size and kept in constant space; a kept one takes nanoseconds.
/// Any thread.
class Chooser {
 public:
  Chooser(const Settings& settings, std::uint32_t ranks) : settings_(settings), ranks_(ranks) {}
  Choice choose(const Reduction& call);

 private:
  struct Kept {
    bool used = false;
    plan::Collective collective{};
    contract::DataType type{};
    std::uint64_t count = 0;
    Choice choice;
  };
  Choice make(const Settings& settings, const Reduction& call, std::uint64_t bytes) const;
  void tell(const Reduction& call, std::uint64_t bytes, const Choice& choice);

  const Settings settings_;
  std::uint32_t ranks_;
  std::mutex mutex_;  ///< of what follows
  std::array<Kept, 64> kept_;
  std::array<std::uint64_t, std::size_t{3} * contract::kDataTypes> told_{};  ///< by power of two of the size
};

}  // namespace detccl::engine
