// SPDX-License-Identifier: Apache-2.0
#include "nccl_api/gpu/stopwatch.h"

#include <algorithm>
#include <exception>

namespace detccl::nccl_api::gpu {
namespace {

using engine::cuda::check;
using engine::cuda::tolerate;

}  // namespace

Stopwatch::~Stopwatch() {
  collect();
  for (const Measurement& measurement : measurements_) {
    if (measurement.began != nullptr) tolerate(cudaEventDestroy(measurement.began));
    if (measurement.ended != nullptr) tolerate(cudaEventDestroy(measurement.ended));
  }
}

void Stopwatch::before(const std::vector<engine::cuda::StreamCall>& calls, bool timed) {
  current_ = nullptr;
  if (observer() == nullptr) return;
  for (const engine::cuda::StreamCall& call : calls)
    teller_.tell(call.call, profile::Moment::enqueued);
  collect();
  if (!timed || calls.size() != 1) return;  // those of a group run as one
  const bool whole = calls_++ % kEvery == 0, phases = phases_.due();
  if (whole || phases) attempt([&] { begin(calls.front(), whole, phases); });
}

void Stopwatch::after() {
  if (current_ == nullptr) return;
  attempt([this] {
    check(cudaEventRecord(current_->ended, current_->stream), "cudaEventRecord");
    current_->under_way = true;
  });
  current_ = nullptr;
}

/// On the communicator's device: events are of the one that is current, and so is the default stream.
template <class Body>
void Stopwatch::attempt(Body&& body) noexcept {
  try {
    const engine::cuda::OnDevice guard(device_);
    body();
  } catch (const std::exception&) {  // not measured
  }
}

void Stopwatch::begin(const engine::cuda::StreamCall& call, bool whole, bool phases) {
  if (engine::cuda::capture_of(call.stream) != 0) return;  // this is not when it runs
  const auto free = std::find_if(measurements_.begin(), measurements_.end(),
                                 [](const Measurement& m) { return !m.under_way; });
  if (free == measurements_.end()) return;
  const auto number = static_cast<std::size_t>(free - measurements_.begin());
  free->parts = phases && number < kWithPhases ? &parts_[number] : nullptr;
  if (!whole && free->parts == nullptr) return;
  make(*free);
  if (free->parts != nullptr) free->parts->clear();
  free->call = call.call;
  free->stream = call.stream;
  check(cudaEventRecord(free->began, free->stream), "cudaEventRecord");
  current_ = &*free;
}

void Stopwatch::make(Measurement& m) {
  if (m.ended != nullptr) return;
  const engine::cuda::OutsideCapture outside;
  if (m.began == nullptr) check(cudaEventCreate(&m.began), "cudaEventCreate");
  check(cudaEventCreate(&m.ended), "cudaEventCreate");
}

/// Events can be asked from any device.
void Stopwatch::collect() {
  const bool any = std::any_of(measurements_.begin(), measurements_.end(),
                               [](const Measurement& m) { return m.under_way; });
  if (!any) return;
  const engine::cuda::OutsideCapture outside;
  for (Measurement& m : measurements_) {
    if (!m.under_way || !tolerate(cudaEventQuery(m.ended))) continue;
    m.under_way = false;
    const std::uint64_t nanoseconds = engine::cuda::nanoseconds_between(m.began, m.ended);
    if (nanoseconds == 0) continue;
    profile::Operation more;
    if (m.parts != nullptr) {
      const auto [transfer, fold, kernel] = m.parts->times();
      more.transfer = transfer;
      more.fold = fold;
      more.kernel = kernel;
    }
    teller_.tell(m.call, profile::Moment::measured, nanoseconds, more);
  }
}

}  // namespace detccl::nccl_api::gpu
