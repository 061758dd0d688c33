// SPDX-License-Identifier: Apache-2.0
// The calling thread's group. The real library's group is opened and closed together with it: native calls go
// straight in there, and find their errors at once; reductions wait here for the outermost ncclGroupEnd.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nccl_api/creation.h"
#include "nccl_api/lane.h"
#include "nccl_api/tracing.h"

namespace detccl::nccl_api {

class Group {
 public:
  static Group& current();  ///< the calling thread's

  bool open() const { return depth_ > 0; }

  /// Notes the result of a call made inside a group; the group's first error is kept. Returns it unchanged.
  ncclResult_t note(ncclResult_t result);

  /// As note(), for an error that the real library does not know of: its group is made to fail as well.
  ncclResult_t poison(ncclResult_t error);

  void queue(std::shared_ptr<Communicator> communicator, const QueuedReduction& reduction);

  /// Communicators that the real library gives out when the group ends.
  void created(std::span<const NewCommunicator> all) {
    created_.insert(created_.end(), all.begin(), all.end());
  }

  /// A communicator that is finalized or destroyed when the group ends.
  void leaves(std::shared_ptr<Communicator> communicator) { leaving_.push_back(std::move(communicator)); }

  /// A native operation that has been put into the real library's group. `communicator` may be null.
  void native(std::shared_ptr<Communicator> communicator, cudaStream_t stream) {
    natives_.emplace_back(std::move(communicator), stream);
  }

  /// An operation of the group that is to be recorded when it runs. `flags`: of trace::Record.
  void trace(std::shared_ptr<Communicator> communicator, const TracedCall& call, std::uint8_t flags);

  ncclResult_t start();
  ncclResult_t end();
  ncclResult_t simulate_end(ncclSimInfo_t* info);

 private:
  using Queued = std::pair<std::shared_ptr<Communicator>, QueuedReduction>;

  void clear();
  bool records() const;
  ncclResult_t run_queue();
  ncclResult_t run_queue_on_host();
  ncclResult_t end_real_group();
  ncclResult_t launch();
  ncclResult_t finish();

  int depth_ = 0;
  ncclResult_t error_ = ncclSuccess;
  std::vector<Queued> queue_;
  std::vector<std::pair<std::shared_ptr<Communicator>, cudaStream_t>> natives_;
  struct Traced {
    std::shared_ptr<Communicator> communicator;
    TracedCall call;
    std::uint8_t flags;
  };
  std::vector<Traced> traced_;
  std::vector<NewCommunicator> created_;
  std::vector<std::shared_ptr<Communicator>> leaving_;
};

}  // namespace detccl::nccl_api
