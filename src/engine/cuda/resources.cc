// SPDX-License-Identifier: Apache-2.0
#include "engine/cuda/resources.h"

#include <algorithm>

namespace detccl::engine::cuda {

Event::Event() {
  check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
}

Event::~Event() {
  tolerate(cudaEventDestroy(event_));
}

std::uint64_t nanoseconds_between(cudaEvent_t began, cudaEvent_t ended) {
  float milliseconds = 0;
  if (!tolerate(cudaEventElapsedTime(&milliseconds, began, ended))) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

Memory::Memory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  data_ = static_cast<std::byte*>(memory);
}

Memory::~Memory() {
  if (data_ != nullptr) tolerate(cudaFree(data_));
}

CaptureId capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CaptureId id = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, &id), "cudaStreamGetCaptureInfo");
  if (status == cudaStreamCaptureStatusInvalidated)
    throw CudaError(cudaErrorStreamCaptureInvalidated, "the stream");
  return status == cudaStreamCaptureStatusActive ? id : 0;
}

StreamId id_of(cudaStream_t stream) {
  StreamId id = 0;
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return id;
}

SideStreams::SideStreams() {
  eager_ = add();
}

SideStreams::~SideStreams() {
  tolerate(cudaStreamDestroy(eager_));
  for (const cudaStream_t stream : captured_)
    tolerate(cudaStreamDestroy(stream));
}

cudaStream_t SideStreams::add() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

cudaStream_t SideStreams::get(CaptureId capture) {
  if (capture == 0) return eager_;
  const auto usable = [capture](cudaStream_t stream) {
    const CaptureId in = capture_of(stream);
    return in == 0 || in == capture;
  };
  const auto found = std::find_if(captured_.begin(), captured_.end(), usable);
  if (found != captured_.end()) return *found;
  const OutsideCapture outside;
  captured_.push_back(add());
  return captured_.back();
}

}  // namespace detccl::engine::cuda
