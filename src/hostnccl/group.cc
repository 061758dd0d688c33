// SPDX-License-Identifier: Apache-2.0
#include "hostnccl/group.h"

#include <algorithm>
#include <utility>

#include "hostnccl/border.h"
#include "hostnccl/creation.h"
#include "hostnccl/runner.h"

namespace detccl::hostnccl {
namespace {

thread_local Group the_group;

bool is_failure(ncclResult_t result) {
  return result != ncclSuccess && result != ncclInProgress;
}

}  // namespace

Group& Group::current() {
  return the_group;
}

void Group::poison(ncclResult_t error) {
  if (contents_.error == ncclSuccess) contents_.error = error;
}

void Group::add(std::shared_ptr<Communicator> communicator, const Operation& operation) {
  contents_.operations.push_back({std::move(communicator), operation});
}

void Group::add(Creation creation) {
  contents_.creations.push_back(std::move(creation));
}

void Group::add_last(std::function<void()> action) {
  contents_.last.push_back(std::move(action));
}

/// True when that was the outermost level: `contents` is then the group's, which is new again.
bool Group::leave_level(ncclResult_t& result, Contents& contents) noexcept {
  if (depth_ == 0) {
    set_last_error("a group ends that was not started");
    result = ncclInvalidUsage;
    return false;
  }
  result = ncclSuccess;
  if (--depth_ > 0) return false;
  contents = std::exchange(contents_, {});
  return true;
}

ncclResult_t Group::end() noexcept {
  ncclResult_t result = ncclSuccess;
  Contents contents;
  if (!leave_level(result, contents)) return result;
  if (contents.error != ncclSuccess) {
    cancel(contents);
    return contents.error;
  }
  return guarded([&] { return carry_out(std::move(contents)); });
}

ncclResult_t Group::simulate_end() noexcept {
  ncclResult_t result = ncclSuccess;
  Contents contents;
  if (!leave_level(result, contents)) return result;
  cancel(contents);
  return contents.error;
}

void Group::cancel(const Contents& contents) noexcept {
  for (const Creation& creation : contents.creations)
    creation.cancel();
}

ncclResult_t Group::carry_out(Contents contents) {
  const bool background = carry_out_creations(std::move(contents.creations));
  std::vector<Batch> batches;
  for (Pending& pending : contents.operations) {
    auto batch = std::find_if(batches.begin(), batches.end(),
                              [&](const Batch& b) { return b.communicator == pending.communicator; });
    if (batch == batches.end()) batch = batches.insert(batch, Batch{pending.communicator, {}, {}});
    const bool direct = is_point_to_point(pending.operation.kind);
    (direct ? batch->point_to_point : batch->collectives).push_back(pending.operation);
  }
  run(batches);
  for (const auto& action : contents.last)
    action();
  return background ? ncclInProgress : ncclSuccess;
}

ncclResult_t grouped(const std::function<void(Group&)>& call) noexcept {
  Group& group = Group::current();
  group.start();
  const ncclResult_t result = guarded([&] {
    call(group);
    return ncclSuccess;
  });
  if (is_failure(result)) group.poison(result);
  const ncclResult_t ended = group.end();
  return is_failure(result) ? result : ended;
}

}  // namespace detccl::hostnccl
