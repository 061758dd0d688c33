// SPDX-License-Identifier: Apache-2.0
// Tells a profiler in the process (profile/operation.h) of a communicator's reductions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/choice.h"
#include "engine/node_steps.h"
#include "engine/reduction.h"
#include "profile/operation.h"

namespace detccl::nccl_api {

/// Who is told of reductions and steps, from now on; null for nobody. Any thread.
void set_observer(profile::Observer observer);
profile::Observer observer();

class Teller {
 public:
  /// `communicator`: as profile::Operation has it; `peer`: its reductions go over peer memory.
  Teller(const engine::Settings& settings, std::uint64_t communicator, std::uint32_t rank,
         std::uint32_t ranks, bool peer)
      : chooser_(settings, ranks), communicator_(communicator), rank_(rank), ranks_(ranks), peer_(peer) {}
  /// Its AllReduces go over nodes where they can.
  void goes_over_nodes(const engine::NodeWay& way) { nodes_ = way; }
  ~Teller();  ///< tells that the communicator has ended
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  /// Nothing happens without an observer. `more`: what the moment has beside the call. One thread at a time;
  /// never throws.
  void tell(const engine::Reduction& call, profile::Moment moment, std::uint64_t nanoseconds = 0,
            profile::Operation more = {});

 private:
  std::string schedule_of(const engine::Reduction& call);

  engine::Chooser chooser_;  ///< as the engine's
  const std::uint64_t communicator_;
  const std::uint32_t rank_, ranks_;
  const bool peer_;
  std::optional<engine::NodeWay> nodes_;
};

}  // namespace detccl::nccl_api
