// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/lifecycle.h"

#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "hostnccl/process.h"

namespace detccl::hostnccl {
namespace {

void join_background(Communicator& communicator) {
  if (communicator.background.joinable()) communicator.background.join();
}

/// A communicator whose goodbye has been said.
class Left : public transport::Departure {
 public:
  explicit Left(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  bool progress() override {
    if (communicator_->control->all_left()) return true;
    communicator_->exchange->progress();
    return false;
  }

 private:
  std::shared_ptr<Communicator> communicator_;
};

/// The communicator is out of the registry: this is the only one who takes it down.
void take_down(std::shared_ptr<Communicator> communicator) {
  join_background(*communicator);
  if (communicator->control == nullptr) return;  // it has failed before it was ready
  communicator->profiler.end();
  const bool sound = communicator->result() == ncclSuccess && !communicator->revoked;
  communicator->control->goodbye();
  if (sound) {
    process().linger.add(std::make_unique<Left>(std::move(communicator)));
  } else {
    communicator->exchange->abandon();
  }
}

}  // namespace

void finalize(Group& group, const std::shared_ptr<Communicator>& communicator) {
  if (communicator->revoked) throw Error(ncclInvalidUsage, "a revoked communicator cannot be finalized");
  communicator->check_ready();
  if (communicator->finalized)
    throw Error(ncclInvalidArgument, "the communicator has been finalized already");
  // Nothing is ever under way between two calls, so there is nothing to flush.
  group.add_last([communicator] { communicator->finalized = true; });
}

void destroy(Group& group, ncclComm_t handle) {
  const std::shared_ptr<Communicator> communicator = process().registry.find(handle);
  if (communicator->result() == ncclInProgress) {
    throw Error(ncclInvalidArgument, "a communicator that is still being made can only be aborted");
  }
  group.add_last([handle] {
    auto leaving = process().registry.remove(handle);
    if (leaving == nullptr) throw Error(ncclInvalidArgument, "the communicator has been destroyed already");
    const std::unique_lock use(leaving->use, std::try_to_lock);
    if (!use) {
      process().registry.add(leaving);
      throw Error(ncclInvalidUsage, "the communicator is destroyed while another thread uses it");
    }
    take_down(leaving);
  });
}

void abort(ncclComm_t handle) {
  const std::shared_ptr<Communicator> communicator = process().registry.find(handle);
  communicator->interrupt();
  if (process().registry.remove(handle) == nullptr) return;  // aborted twice at the same time
  join_background(*communicator);
  const std::lock_guard use(communicator->use);  // whoever waited has returned
  communicator->fail(ncclInternalError, "the communicator was aborted");
  if (communicator->control == nullptr) return;
  communicator->control->report("its communicator was aborted");
  communicator->exchange->abandon();
}

void revoke(const std::shared_ptr<Communicator>& communicator, int flags) {
  if (flags != NCCL_REVOKE_DEFAULT) {
    throw Error(ncclInvalidArgument,
                fmt::format("revoke flags {}: only NCCL_REVOKE_DEFAULT is allowed", flags));
  }
  if (communicator->finalized) throw Error(ncclInvalidUsage, "a finalized communicator cannot be revoked");
  if (communicator->result() == ncclInProgress) {
    throw Error(ncclInvalidArgument, "a communicator that is still being made cannot be revoked");
  }
  communicator->revoked = true;
  const std::lock_guard use(communicator->use);
}

}  // namespace detccl::hostnccl
