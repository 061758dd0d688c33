// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/group.h"

#include <algorithm>
#include <future>

#include "nccl_api/border.h"
#include "nccl_api/creation.h"
#include "nccl_api/leave.h"
#include "nccl_api/run.h"
#include "nccl_api/runtime.h"
#include "nccl_api/settle.h"

namespace detccl::nccl_api {
namespace {

thread_local Group group;

bool is_error(ncclResult_t result) {
  return result != ncclSuccess && result != ncclInProgress;
}

/// A call that the real library refuses before anything else, so that its open group fails.
void fail_real_group() {
  const KeepLastError keep;
  static_cast<void>(real().AllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, nullptr, nullptr));
}

}  // namespace

Group& Group::current() {
  return group;
}

void Group::clear() {
  error_ = ncclSuccess;
  queue_.clear();
  natives_.clear();
  traced_.clear();
  created_.clear();
  leaving_.clear();
}

ncclResult_t Group::note(ncclResult_t result) {
  if (open() && error_ == ncclSuccess && is_error(result)) error_ = result;
  return result;
}

ncclResult_t Group::poison(ncclResult_t error) {
  if (open() && error_ == ncclSuccess) fail_real_group();
  return note(error);
}

void Group::queue(std::shared_ptr<Communicator> communicator, const QueuedReduction& reduction) {
  queue_.emplace_back(std::move(communicator), reduction);
}

ncclResult_t Group::start() {
  const ncclResult_t result = real().GroupStart();
  if (result == ncclSuccess) ++depth_;
  return result;
}

ncclResult_t Group::run_queue_on_host() {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const auto& [communicator, reduction] : queue_) {
    auto lane = std::find_if(lanes.begin(), lanes.end(),
                             [&c = communicator](const auto& l) { return &l->communicator() == c.get(); });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), std::make_unique<Lane>(communicator));
    (*lane)->push(reduction);
  }
  return run(lanes);
}

/// Runs the reductions, or puts them on their streams, while the real group is open.
ncclResult_t Group::run_queue() {
  if (runtime().on_host) return guarded([this] { return run_queue_on_host(); });
  // The group is this thread's: in another one, our transfers do not get into it.
  return std::async(std::launch::async, [this] { return gpu::enqueue(queue_); }).get();
}

/// Keeps the native operations' places among their communicators' others.
ncclResult_t Group::end_real_group() {
  for (const auto& [communicator, stream] : natives_) {
    const auto shadow = communicator == nullptr ? nullptr : communicator->gpu();
    const ncclResult_t result = shadow == nullptr ? ncclSuccess : shadow->before_native(stream);
    if (result != ncclSuccess) fail_real_group();
  }
  const ncclResult_t ended = real().GroupEnd();
  if (is_error(ended)) return ended;
  // NCCL makes all streams of a communicator wait for its operations: any one of them will do.
  for (const auto& [communicator, stream] : natives_) {
    const auto shadow = communicator == nullptr ? nullptr : communicator->gpu();
    const ncclResult_t result =
        shadow == nullptr ? ncclSuccess : shadow->after_native(stream, ended == ncclInProgress);
    if (result != ncclSuccess) return result;
  }
  return ended;
}

void Group::trace(std::shared_ptr<Communicator> communicator, const TracedCall& call, std::uint8_t flags) {
  if (runtime().tracing != nullptr) traced_.push_back({std::move(communicator), call, flags});
}

/// Whether all of the group are reductions whose kernels can record them: with others among them, records
/// would not come in the order of the calls.
bool Group::records() const {
  return traced_.size() == queue_.size() && std::all_of(queue_.begin(), queue_.end(), [](const Queued& one) {
           const auto shadow = one.first->gpu();
           return shadow != nullptr && shadow->records(one.second.call, one.second.alone);
         });
}

/// The outermost end, recorded.
ncclResult_t Group::finish() {
  Tracing* tracing = runtime().tracing.get();
  if (tracing == nullptr || traced_.empty() || error_ != ncclSuccess) return launch();
  std::vector<std::unique_ptr<Tracing::Pending>> pending;
  const bool recorded = records();
  for (std::size_t i = 0; i < traced_.size(); ++i) {
    const Traced& one = traced_[i];
    pending.push_back(tracing->before(one.communicator, one.call,
                                      static_cast<std::uint8_t>(one.flags | trace::kGroup),
                                      recorded ? &queue_[i].second : nullptr));
  }
  const ncclResult_t result = launch();
  if (is_error(result)) return result;
  for (auto& one : pending) {
    if (one != nullptr && settle(*one->communicator, result) == ncclSuccess) tracing->after(std::move(one));
  }
  return result;
}

/// Ours first, for collectives come before point-to-point, then the real group.
ncclResult_t Group::launch() {
  // With nothing in it the real group can be closed first, and nothing can get into it.
  const bool only_ours = !runtime().on_host && natives_.empty() && leaving_.empty();
  if (only_ours && error_ == ncclSuccess && !queue_.empty()) {
    const ncclResult_t closed = real().GroupEnd();
    const ncclResult_t ours = is_error(closed) ? closed : gpu::enqueue(queue_);
    return ours != ncclSuccess ? ours : adopt_new(created_);
  }
  ncclResult_t ours = error_;
  if (ours == ncclSuccess && !queue_.empty()) {
    ours = run_queue();
    if (ours != ncclSuccess) fail_real_group();
  }
  if (ours != ncclSuccess) {
    const KeepLastError keep;
    static_cast<void>(real().GroupEnd());
    return ours;
  }
  for (const auto& communicator : leaving_)
    leave(communicator);
  const ncclResult_t native = end_real_group();
  if (native != ncclSuccess) return native;
  return adopt_new(created_);
}

ncclResult_t Group::end() {
  if (depth_ == 0) return real().GroupEnd();  // which says that there is no group
  if (depth_ > 1) {
    const ncclResult_t result = real().GroupEnd();
    --depth_;
    return result;
  }
  const ncclResult_t result = finish();
  depth_ = 0;
  clear();
  return result;
}

ncclResult_t Group::simulate_end(ncclSimInfo_t* info) {
  if (depth_ == 1 && !real().GroupSimulateEnd.available()) {
    // The group has to be closed all the same, and must launch nothing.
    fail_real_group();
    static_cast<void>(real().GroupEnd());
  }
  const ncclResult_t first_error = error_;
  const ncclResult_t result = real().GroupSimulateEnd(info);
  if (depth_ == 1) clear();
  if (depth_ > 0) --depth_;
  return depth_ == 0 && first_error != ncclSuccess ? first_error : result;
}

}  // namespace detccl::nccl_api
