// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/stopwatch.h"

#include <algorithm>
#include <atomic>
#include <exception>

#include "contract/types.h"
#include "nccl_api/gpu_shadow.h"

namespace detccl::nccl_api::gpu {
namespace {

std::atomic<profile::Observer> the_observer{nullptr};

/// As NCCL's profiler calls them.
const char* function_name(plan::Collective collective) {
  constexpr std::array kNames = {"AllReduce", "ReduceScatter", "Reduce"};
  return kNames[static_cast<std::size_t>(collective)];
}
const char* type_name(contract::DataType type) {
  constexpr std::array kNames = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                 "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                 "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
  const auto number = static_cast<std::size_t>(type);
  return number < kNames.size() ? kNames[number] : "Unknown";
}

}  // namespace

void set_observer(profile::Observer observer) {
  the_observer = observer;
}

Stopwatch::~Stopwatch() {
  collect();
  tell({}, profile::Moment::ended, 0);
  for (const Measurement& measurement : measurements_) {
    if (measurement.began != nullptr) static_cast<void>(cudaEventDestroy(measurement.began));
    if (measurement.ended != nullptr) static_cast<void>(cudaEventDestroy(measurement.ended));
  }
}

std::string Stopwatch::schedule_of(const engine::Reduction& call) const {
  if (peer_) return "peer";
  return plan::name(chooser_.choose(call).schedule);
}

void Stopwatch::tell(const engine::Reduction& call, profile::Moment moment, std::uint64_t nanoseconds) const {
  const profile::Observer observer = the_observer;
  if (observer == nullptr) return;
  try {
    const std::string schedule = schedule_of(call);
    const profile::Operation operation{.rank = static_cast<std::int32_t>(rank_),
                                       .ranks = static_cast<std::int32_t>(ranks_),
                                       .communicator = communicator_,
                                       .function = function_name(call.collective),
                                       .datatype = type_name(call.type),
                                       .schedule = schedule.c_str(),
                                       .count = call.count};
    observer(&operation, moment, nanoseconds);
  } catch (const std::exception&) {  // memory ran out: not told
  }
}

void Stopwatch::before(const std::vector<engine::cuda::StreamCall>& calls) {
  current_ = nullptr;
  if (the_observer == nullptr) return;
  for (const engine::cuda::StreamCall& call : calls)
    tell(call.call, profile::Moment::enqueued, 0);
  collect();
  // Those of a group run as one, and in a captured graph this is not when they run.
  if (calls.size() != 1 || calls_++ % kEvery != 0) return;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
  if (cudaStreamIsCapturing(calls.front().stream, &capturing) != cudaSuccess ||
      capturing != cudaStreamCaptureStatusNone)
    return static_cast<void>(cudaGetLastError());
  const auto free = std::find_if(measurements_.begin(), measurements_.end(),
                                 [](const Measurement& m) { return !m.under_way; });
  if (free == measurements_.end()) return;
  Measurement* measurement = make(*free);
  if (measurement == nullptr) return;
  measurement->call = calls.front().call;
  measurement->stream = calls.front().stream;
  if (cudaEventRecord(measurement->began, measurement->stream) == cudaSuccess) current_ = measurement;
}

void Stopwatch::after() {
  if (current_ == nullptr) return;
  current_->under_way = cudaEventRecord(current_->ended, current_->stream) == cudaSuccess;
  current_ = nullptr;
}

Stopwatch::Measurement* Stopwatch::make(Measurement& m) {
  if (m.ended != nullptr) return &m;
  const engine::cuda::OutsideCapture outside;
  const bool made = (m.began != nullptr || cudaEventCreate(&m.began) == cudaSuccess) &&
                    cudaEventCreate(&m.ended) == cudaSuccess;
  if (!made) static_cast<void>(cudaGetLastError());
  return made ? &m : nullptr;
}

void Stopwatch::collect() {
  const bool any = std::any_of(measurements_.begin(), measurements_.end(),
                               [](const Measurement& m) { return m.under_way; });
  if (!any) return;
  const engine::cuda::OutsideCapture outside;
  for (Measurement& m : measurements_) {
    if (!m.under_way) continue;
    if (cudaEventQuery(m.ended) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // "not ready" is no error that the program should find
      continue;
    }
    float milliseconds = 0;
    m.under_way = false;
    if (cudaEventElapsedTime(&milliseconds, m.began, m.ended) == cudaSuccess)
      tell(m.call, profile::Moment::measured,
           static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6));
  }
}

}  // namespace detccl::nccl_api::gpu
