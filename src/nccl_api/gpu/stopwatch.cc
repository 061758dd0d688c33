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
  forget_current();  // its call has failed
  if (observer() == nullptr) return;
  for (const engine::cuda::StreamCall& call : calls)
    teller_.tell(call.call, profile::Moment::enqueued);
  if (!timed || calls.size() != 1) return;  // those of a group run as one
  const bool whole = measures(), phases = phases_.due();
  if (!whole && !phases) return;
  collect();
  if (!attempt([&] { begin(calls.front(), whole, phases); })) forget_current();
}

bool Stopwatch::measures() {
  return calls_++ < kFirst ? calls_ % kEveryOfFirst == 1 : rarely_.due();
}

void Stopwatch::after() {
  if (current_ == nullptr) return;
  if (!attempt([this] { check(cudaEventRecord(current_->ended, current_->stream), "cudaEventRecord"); }))
    return forget_current();
  ++under_way_;
  current_ = nullptr;
}

/// On the communicator's device: events are of the one that is current, and so is the default stream.
template <class Body>
bool Stopwatch::attempt(Body&& body) noexcept {
  try {
    const engine::cuda::OnDevice guard(device_);
    body();
    return true;
  } catch (const std::exception&) {  // not measured
    return false;
  }
}

void Stopwatch::begin(const engine::cuda::StreamCall& call, bool whole, bool phases) {
  if (engine::cuda::capture_of(call.stream) != 0) return;  // this is not when it runs
  if (under_way_ == measurements_.size()) return;
  Measurement& m = measurements_[(first_ + under_way_) % measurements_.size()];
  m.parts = phases ? free_parts() : nullptr;
  if (!whole && m.parts == nullptr) return;
  current_ = &m;
  make(m);
  m.call = call.call;
  m.stream = call.stream;
  check(cudaEventRecord(m.began, m.stream), "cudaEventRecord");
}

engine::cuda::PartEvents* Stopwatch::free_parts() {
  const auto free = std::find_if(parts_.begin(), parts_.end(), [](const Parts& p) { return !p.used; });
  if (free == parts_.end()) return nullptr;
  free->used = true;
  free->events.clear();
  return &free->events;
}

void Stopwatch::forget(Measurement& m) {
  for (Parts& parts : parts_)
    if (&parts.events == m.parts) parts.used = false;
  m.parts = nullptr;
}

void Stopwatch::forget_current() {
  if (current_ != nullptr) forget(*current_);
  current_ = nullptr;
}

void Stopwatch::make(Measurement& m) {
  if (m.ended != nullptr) return;
  const engine::cuda::OutsideCapture outside;
  if (m.began == nullptr) check(cudaEventCreate(&m.began), "cudaEventCreate");
  check(cudaEventCreate(&m.ended), "cudaEventCreate");
}

/// Events can be asked from any device. A communicator's operations end in the order in which they began, so
/// a look at the first one is enough: each takes the host some time.
void Stopwatch::collect() {
  if (under_way_ == 0) return;
  const engine::cuda::OutsideCapture outside;
  while (under_way_ != 0 && tolerate(cudaEventQuery(measurements_[first_].ended))) {
    Measurement& m = measurements_[first_];
    first_ = (first_ + 1) % measurements_.size();
    --under_way_;
    const std::uint64_t nanoseconds = engine::cuda::nanoseconds_between(m.began, m.ended);
    profile::Operation more;
    if (m.parts != nullptr) {
      const auto [transfer, fold, kernel] = m.parts->times();
      more.transfer = transfer;
      more.fold = fold;
      more.kernel = kernel;
    }
    forget(m);
    if (nanoseconds != 0) teller_.tell(m.call, profile::Moment::measured, nanoseconds, more);
  }
}

}  // namespace detccl::nccl_api::gpu
