// SPDX-License-Identifier: Apache-2.0
// What an execution on host memory spends its time on.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "profile/range.h"

namespace detccl::engine {

enum class Phase : std::uint8_t {
  transfer,  ///< data are handed to the exchange, or it moves something
  fold,
  wait,  ///< nothing moves: peers are not there yet, or do not get on
};

/// One thread at a time. NVTX tools see the phases as ranges.
class Phases {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins with `transfer`.
  Phases();

  void enter(Phase phase);
  /// After each look at the exchange, in phase `transfer` or `wait`: many in vain are waiting.
  void looked(bool moved);
  /// No phase any more.
  void stop();

  std::chrono::nanoseconds spent(Phase phase) const { return spent_[static_cast<std::size_t>(phase)]; }
  std::chrono::nanoseconds spent() const;

 private:
  void enter(Phase phase, Clock::time_point now);

  std::array<std::chrono::nanoseconds, 3> spent_{};
  Phase phase_ = Phase::transfer;
  Clock::time_point since_ = Clock::now(), vain_since_{};
  int vain_ = 0;
  bool stopped_ = false;
  profile::Range range_;
};

}  // namespace detccl::engine
