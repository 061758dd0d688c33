// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA objects. All belong to the device that is current where they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cuda/cuda_error.h"

namespace detccl::engine::cuda {

/// An event without a time.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void wait(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// From one event with a time to another, both of which are over; 0 where CUDA does not tell. Leaves no
/// error.
std::uint64_t nanoseconds_between(cudaEvent_t began, cudaEvent_t ended);

/// Memory of the device.
class Memory {
 public:
  explicit Memory(std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// The graph that a stream is being captured into; 0 if none.
using CaptureId = unsigned long long;
CaptureId capture_of(cudaStream_t stream);

/// Unlike its address, no other stream ever has it.
using StreamId = unsigned long long;
StreamId id_of(cudaStream_t stream);

/// Streams beside the program's own. A stream that has taken part in a capture belongs to it until it ends,
/// so every capture under way has one of its own.
class SideStreams {
 public:
  SideStreams();
  ~SideStreams();
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;
  cudaStream_t get(CaptureId capture);

 private:
  cudaStream_t add();

  cudaStream_t eager_ = nullptr;
  std::vector<cudaStream_t> captured_;
};

}  // namespace detccl::engine::cuda
