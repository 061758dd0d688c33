// SPDX-License-Identifier: Apache-2.0
// Tells a profiler in the process (profile/operation.h) of a communicator's reductions.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "engine/choice.h"
#include "profile/operation.h"

namespace detccl::nccl_api {

/// Who is told of reductions and steps, from now on; null for nobody. Any thread.
void set_observer(profile::Observer observer);
profile::Observer observer();

class Teller {
 public:
  /// `communicator`: as profile::Operation has it; `peer`: its reductions go over peer memory.
  Teller(engine::Settings settings, std::uint64_t communicator, std::uint32_t rank, std::uint32_t ranks,
         bool peer);
  ~Teller();  ///< tells that the communicator has ended
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  /// Nothing happens without an observer. `more`: what the moment has beside the call. Any thread; never
  /// throws.
  void tell(const engine::Reduction& call, profile::Moment moment, std::uint64_t nanoseconds = 0,
            profile::Operation more = {}) const;

 private:
  std::string schedule_of(const engine::Reduction& call) const;

  mutable std::mutex mutex_;
  mutable engine::Chooser chooser_;  ///< chooses as the engine's
  const std::uint64_t communicator_;
  const std::uint32_t rank_, ranks_;
  const bool peer_;
};

}  // namespace detccl::nccl_api
