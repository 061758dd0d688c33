// SPDX-License-Identifier: Apache-2.0
// The end of an exchange that is sound: what this rank has sent last may still be in its own memory, waiting
// for a peer to fetch it. So the exchange stays until every rank has said that it is through.
#pragma once

#include <memory>
#include <vector>

#include "transport/exchange.h"
#include "transport/linger.h"

namespace detccl::nccl_api {

/// A barrier that nobody waits in: in round k each rank tells the one 2^k further on, and is told by the one
/// 2^k back. When all rounds are over, every rank has begun its farewell.
class Farewell : public transport::Departure {
 public:
  explicit Farewell(std::unique_ptr<transport::Exchange> exchange);

  /// Moves on without waiting. True when every rank has begun its farewell, or the exchange has failed.
  bool progress() override;

 private:
  void start_round();

  std::unique_ptr<transport::Exchange> exchange_;
  transport::Completion sent_, received_;
  std::uint32_t distance_ = 1;
};

}  // namespace detccl::nccl_api
