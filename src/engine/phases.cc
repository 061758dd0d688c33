// SPDX-License-Identifier: Apache-2.0
#include "engine/phases.h"

namespace detccl::engine {
namespace {

/// Looks in vain between two that are not, while data are on their way.
constexpr int kVain = 32;

constexpr std::array kNames = {"transfer", "fold", "wait"};

}  // namespace

Phases::Phases() : range_(kNames.front()) {
}

void Phases::enter(Phase phase) {
  vain_ = 0;
  if (phase != phase_) enter(phase, Clock::now());
}

void Phases::enter(Phase phase, Clock::time_point now) {
  spent_[static_cast<std::size_t>(phase_)] += now - since_;
  phase_ = phase;
  since_ = now;
  range_.turn_into(kNames[static_cast<std::size_t>(phase)]);
}

void Phases::looked(bool moved) {
  if (moved) return enter(Phase::transfer);
  if (phase_ == Phase::wait) return;
  if (vain_++ == 0) vain_since_ = Clock::now();
  if (vain_ == kVain) enter(Phase::wait, vain_since_);
}

void Phases::stop() {
  if (stopped_) return;
  stopped_ = true;
  enter(phase_, Clock::now());
  range_.end();
}

std::chrono::nanoseconds Phases::spent() const {
  return spent_[0] + spent_[1] + spent_[2];
}

}  // namespace detccl::engine
