// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/captured_record.h"

namespace detccl::engine::cuda {
namespace {

struct Capture {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* last = nullptr;  ///< what comes next on the stream waits for these
  std::size_t count = 0;
};

cudaError_t look_at(cudaStream_t stream, Capture& capture) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, &status, &id, &capture.graph, &capture.last, nullptr,
                                  &capture.count);
#else
  return cudaStreamGetCaptureInfo(stream, &status, &id, &capture.graph, &capture.last, &capture.count);
#endif
}

/// `node` after each of `after`, or no longer.
cudaError_t link(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after, cudaGraphNode_t node,
                 bool linked) {
  const std::vector<cudaGraphNode_t> nodes(after.size(), node);
#if CUDART_VERSION >= 13000
  return linked ? cudaGraphAddDependencies(graph, after.data(), nodes.data(), nullptr, after.size())
                : cudaGraphRemoveDependencies(graph, after.data(), nodes.data(), nullptr, after.size());
#else
  return linked ? cudaGraphAddDependencies(graph, after.data(), nodes.data(), after.size())
                : cudaGraphRemoveDependencies(graph, after.data(), nodes.data(), after.size());
#endif
}

}  // namespace

cudaError_t CapturedRecord::move(cudaStream_t stream, CaptureId capture, cudaEvent_t event) {
  Capture now;
  cudaError_t error = look_at(stream, now);
  if (error != cudaSuccess) return error;
  const std::vector<cudaGraphNode_t> last(now.last, now.last + now.count);
  if (capture != capture_) {
    error = cudaGraphAddEventRecordNode(&node_, now.graph, last.data(), last.size(), event);
    if (error != cudaSuccess) return error;
    capture_ = capture;
    after_ = last;
    return cudaSuccess;
  }
  error = link(now.graph, after_, node_, false);
  if (error == cudaSuccess) error = link(now.graph, last, node_, true);
  after_ = last;
  return error;
}

void CapturedRecord::move_to_end(cudaStream_t stream, CaptureId capture, cudaEvent_t event) {
  if (tolerate(move(stream, capture, event))) return;
  capture_ = 0;
  check(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), "cudaEventRecord");
}

}  // namespace detccl::engine::cuda
