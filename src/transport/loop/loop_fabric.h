// SPDX-License-Identifier: Apache-2.0
// Exchanges between virtual ranks of one process, over in-memory queues. A send completes only when its
// receive has been posted and has taken the data (the strictest behaviour a transport may show), so a plan
// that counts on buffering hangs here and not at a user's.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/exchange.h"

namespace detccl::transport {

class LoopFabric {
 public:
  explicit LoopFabric(std::uint32_t ranks);
  ~LoopFabric();
  LoopFabric(const LoopFabric&) = delete;
  LoopFabric& operator=(const LoopFabric&) = delete;

  /// Rank `rank`'s end; once per rank. The fabric's state outlives it while any exchange does.
  std::unique_ptr<Exchange> exchange(std::uint32_t rank);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detccl::transport
