// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/order.h"

namespace detccl::engine::cuda {
namespace {

/// Within a capture a stream cannot be asked for its number, but neither can it be another one by then.
StreamId identity(cudaStream_t stream, CaptureId capture) {
  return capture == 0 ? id_of(stream) : reinterpret_cast<StreamId>(stream);
}

}  // namespace

void Order::record(cudaStream_t stream, CaptureId capture) {
  if (capture == 0) {
    last_.record(stream);
    return;
  }
  last_in_graph_.record(stream);
  in_graph_.move_to_end(stream, capture, last_.get());
}

void Order::before(cudaStream_t stream, CaptureId capture) {
  const std::lock_guard lock(mutex_);
  if (pending_) {
    pending_ = false;
    record(stream_, capture_of(stream_));
  }
  const bool same_graph = capture == capture_ && any_;
  const bool unseen = capture == 0 && any_capture_;
  // The stream keeps the order by itself.
  if (same_graph && !unseen && identity(stream, capture) == identity_) return;
  if (capture == 0) {
    if (any_) last_.wait(stream);
  } else if (same_graph) {
    last_in_graph_.wait(stream);
  } else {
    // Also where nothing has been handed over: it may be by the time the graph runs.
    check(cudaStreamWaitEvent(stream, last_.get(), cudaEventWaitExternal), "cudaStreamWaitEvent");
  }
}

void Order::after(cudaStream_t stream, CaptureId capture, bool later) {
  const std::lock_guard lock(mutex_);
  pending_ = later;
  if (!later) record(stream, capture);
  stream_ = stream;
  identity_ = identity(stream, capture);
  capture_ = capture;
  any_capture_ = any_capture_ || capture != 0;
  any_ = true;
}

}  // namespace detccl::engine::cuda
