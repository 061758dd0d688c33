// SPDX-License-Identifier: Apache-2.0
// The sends and receives of one group on one communicator: all of them under way at the same time. Between
// two ranks they pair in the order of issue, over groups too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/execution.h"
#include "hostnccl/operation.h"
#include "transport/exchange.h"

namespace detccl::hostnccl {

class PointToPoint {
 public:
  /// Starts them all. Those to the own rank are done at once: the k-th send is copied to the k-th receive.
  /// Throws Error(ncclInvalidUsage) where these do not match.
  PointToPoint(transport::Exchange& exchange, const std::vector<Operation>& operations);
  ~PointToPoint();  ///< if still under way: abandons the exchange
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// Moves on without waiting. When it fails it abandons the exchange.
  engine::Status progress();
  const std::string& failure() const { return failure_; }
  std::size_t completed() const { return completed_; }

  /// "a receive from rank 3": the first one that is not complete.
  std::string waiting_for() const;

 private:
  transport::Exchange& exchange_;
  std::vector<Operation> operations_;  ///< with other ranks, in the order of the completions
  std::unique_ptr<transport::Completion[]> completions_;
  std::size_t completed_ = 0;  ///< so many of the first are complete
  engine::Status status_ = engine::Status::running;
  std::string failure_;
};

}  // namespace detccl::hostnccl
