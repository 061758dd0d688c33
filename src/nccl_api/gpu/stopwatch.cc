// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/stopwatch.h"

#include <algorithm>

namespace detccl::nccl_api::gpu {

Stopwatch::~Stopwatch() {
  collect();
  for (const Measurement& measurement : measurements_) {
    if (measurement.began != nullptr) static_cast<void>(cudaEventDestroy(measurement.began));
    if (measurement.ended != nullptr) static_cast<void>(cudaEventDestroy(measurement.ended));
  }
}

void Stopwatch::before(const std::vector<engine::cuda::StreamCall>& calls, bool timed) {
  current_ = nullptr;
  if (observer() == nullptr) return;
  for (const engine::cuda::StreamCall& call : calls)
    teller_.tell(call.call, profile::Moment::enqueued);
  collect();
  // Those of a group run as one, and in a captured graph this is not when they run.
  if (!timed || calls.size() != 1) return;
  const bool whole = calls_++ % kEvery == 0, phases = phases_.due();
  if (!whole && !phases) return;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
  if (cudaStreamIsCapturing(calls.front().stream, &capturing) != cudaSuccess ||
      capturing != cudaStreamCaptureStatusNone)
    return static_cast<void>(cudaGetLastError());
  const auto free = std::find_if(measurements_.begin(), measurements_.end(),
                                 [](const Measurement& m) { return !m.under_way; });
  if (free == measurements_.end()) return;
  const auto number = static_cast<std::size_t>(free - measurements_.begin());
  free->parts = phases && number < kWithPhases ? &parts_[number] : nullptr;
  if (!whole && free->parts == nullptr) return;
  Measurement* measurement = make(*free);
  if (measurement == nullptr) return;
  if (measurement->parts != nullptr) measurement->parts->clear();
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
    if (cudaEventElapsedTime(&milliseconds, m.began, m.ended) != cudaSuccess) continue;
    profile::Operation more;
    if (m.parts != nullptr) {
      const auto [transfer, fold, kernel] = m.parts->times();
      more.transfer = transfer;
      more.fold = fold;
      more.kernel = kernel;
    }
    teller_.tell(m.call, profile::Moment::measured,
                 static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6), more);
  }
}

}  // namespace detccl::nccl_api::gpu
